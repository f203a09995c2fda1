"""The judge by rules: is the right answer ranked above the wrong one?

usage: python benchmarks/judge_rules.py NEEDS.jsonl CORPUS.jsonl [--errors N] [--limit N]
A need has an `answer`, a `faithful` paraphrase of it and several `unfaithful` answers with one wrong statement each (`kind`). For each
pair (answer, unfaithful): is overall(answer) > overall(unfaithful)? A tie counts half. Contexts: the articles in `relevant`.
"""
import argparse, json, sys
from collections import defaultdict
from pathlib import Path

from rag_quality.judge.rules import judge_by_rules
from rag_quality.judge.verdicts import JudgeItem

import kept

TARGET = .85
MODES = {"contexts": lambda n: {}, "contexts+key_facts": lambda n: {"key_facts": tuple(f["fact"] for f in n["key_facts"])}, "contexts+reference": lambda n: {"reference": n["faithful"]}, "reference": lambda n: {"reference": n["faithful"]}}


def read(path):
    return [json.loads(line) for line in path.read_text(encoding="utf8").splitlines() if line.strip()]


def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("needs", type=Path); ap.add_argument("corpus", type=Path)
    ap.add_argument("--errors", type=int, default=0, help="show so many pairs that are ranked wrong, a mode")
    ap.add_argument("--limit", type=int, help="only the first so many needs")
    args = ap.parse_args()
    for path in (args.needs, args.corpus):
        if not path.is_file(): print(f"파일이 없습니다: {path}", file=sys.stderr); return 2
    needs = read(args.needs)[:args.limit]
    wanted = {d for n in needs for d in n["relevant"]}
    corpus = {d["_id"]: f"{d['title']}\n{d['text']}" for d in read(args.corpus) if d["_id"] in wanted}
    for mode, extra in MODES.items():
        won, tied, shown, caught, alarms = defaultdict(list), 0, 0, 0, [0, 0]
        for n in needs:
            contexts = () if mode == "reference" else tuple(corpus[d] for d in n["relevant"] if d in corpus)
            judge = lambda text: judge_by_rules(JudgeItem(n["formal"], text, contexts, **extra(n)))
            good = judge(n["answer"])
            if mode != "reference": alarms[0] += any(e.says == "contradicts" for e in good.evidence); alarms[1] += 1
            for wrong in n["unfaithful"]:
                bad = judge(wrong["text"]); a, b = good.overall, bad.overall
                point = .5 if a == b else float(b is None or a is not None and a > b)
                won[wrong["kind"]].append(point); tied += a == b; caught += any(e.says == "contradicts" for e in bad.evidence)
                if point < 1 and shown < args.errors:
                    shown += 1; print(f"   [{wrong['kind']}] {n['need']} {good.scores} < {bad.scores}\n      {wrong['text']}\n      {good.reasons}\n      {bad.reasons}")
        points = [p for kind in won.values() for p in kind]
        extra_note = f"; a contradiction is found in {caught/len(points):.2f} of the wrong answers" + (f", {alarms[0]/alarms[1]:.2f} of the right ones" if alarms[1] else "")
        print(f"{mode}: right answer above the wrong one {sum(points)/len(points):.3f}  (n={len(points)} pairs of {len(needs)} needs, ties {tied}, target {TARGET}){extra_note}")
        print("   " + "  ".join(f"{k} {sum(v)/len(v):.2f} ({len(v)})" for k, v in sorted(won.items(), key=lambda kv: -len(kv[1]))))
    return 0


if __name__ == "__main__": kept.run(main, split="dev")

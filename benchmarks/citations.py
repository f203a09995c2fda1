"""Citations put back: stripped from right answers, are they found again?

usage: python benchmarks/citations.py [DATA] [--slice] [--distractors N] [--errors N]
       DATA has needs.jsonl (answer, faithful, relevant, formal) and corpus.jsonl; without one, the bundled collection
Contexts: the relevant articles, and again with N (5) articles that BM25 finds for the formal query and that are not relevant.
Precision and recall over (regulation, article) pairs, of all answers together; a sentence counts by itself in the second line.
Beside them: right citations kept byte for byte, and wrong ones (another article, one that is not there) corrected or flagged.
"""
import argparse, json, re, sys
from pathlib import Path

import numpy as np

from rag_quality.faithfulness.citations import citation_pairs, ground_citations
from rag_quality.core import Passage, bundle_path
from rag_quality.retrieval import BM25Index
from rag_quality.claims.splitting import split_sentences

import kept

BRACKET = re.compile(r"\s?\[[^\[\]]*제\d+조[^\[\]]*\]")
def read(path): return [json.loads(line) for line in path.read_text(encoding="utf8").splitlines() if line.strip()]
def stripped(text): return BRACKET.sub("", text)
def by_sentence(text): return {re.sub(r"\W|확인 필요", "", stripped(s.text)): citation_pairs(s.text) for s in split_sentences(text)}

def interval(rows, n_boot=1000):
    "Ratio of sums with a bootstrap interval over the answers."
    rows = np.array(rows, float); draws = np.random.default_rng(0).integers(0, len(rows), (n_boot, len(rows)))
    r = rows[draws].sum(1); q = r[:, 0] / np.maximum(r[:, 1], 1)
    return f"{rows[:, 0].sum() / max(rows[:, 1].sum(), 1):.3f} [{np.quantile(q, .025):.3f}, {np.quantile(q, .975):.3f}]"

def put_back(needs, contexts, key, name, errors):
    rows, sentences, unsourced, total = [], [], 0, 0
    for n, context in zip(needs, contexts):
        if not n.get(key): continue
        g = ground_citations(stripped(n[key]), context); got, want = citation_pairs(g.content), citation_pairs(n[key])
        rows.append((len(got & want), len(got), len(want))); unsourced += len(g.unsourced)
        mine, theirs = by_sentence(g.content), by_sentence(n[key]); total += len(theirs)
        sentences.append((sum(len(mine.get(k, set()) & v) for k, v in theirs.items()), sum(len(mine.get(k, ())) for k in theirs), sum(map(len, theirs.values()))))
        if got != want and errors: errors -= 1; print("  ", n["need"], "빠짐", want - got, "덤", got - want, "\n     ", g.content)
    for what, r in (("답마다", rows), ("문장마다", sentences)):
        r = np.array(r); print(f"{name:14} {key:8} {what:5} 정밀도 {interval(r[:, [0, 1]])}  재현율 {interval(r[:, [0, 2]])}" + (f"  (목표 0.70씩, 답 {len(r)}개; 확인 필요 {unsourced}/{total}문장)" if what == "답마다" else ""))

def given(needs, contexts):
    "Right citations kept; wrong ones corrected or flagged."
    kept = n_kept = seen = fixed = n_wrong = 0
    for n, context in zip(needs, contexts):
        right = [m[0] for m in BRACKET.finditer(n["answer"])]; g = ground_citations(n["answer"], context)
        n_kept += len(right); kept += sum(min(g.content.count(b), n["answer"].count(b)) / n["answer"].count(b) for b in right)
        one = re.search(r"제(\d+)조(?:의\d+)?(?=\])", n["answer"])
        if not one: continue
        for number in (int(one[1]) + 500, int(one[1]) + 40):
            bad = n["answer"][:one.start()] + f"제{number}조" + n["answer"][one.end():]; h = ground_citations(bad, context); n_wrong += 1
            seen += f"제{number}조]" not in h.content or bool(re.search(rf"제{number}조\] \(확인 필요\)", h.content)); fixed += citation_pairs(h.content) == citation_pairs(n["answer"])
    print(f"바른 출처가 그대로 {kept:.0f}/{n_kept}, 없는 조문을 인용하면 고치거나 표시 {seen}/{n_wrong} (바르게 고침 {fixed})")

def main(argv):
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("data", nargs="?", type=Path); ap.add_argument("--slice", action="store_true"); ap.add_argument("--distractors", type=int, default=5); ap.add_argument("--errors", type=int, default=0)
    args = ap.parse_args(argv); data = args.data or bundle_path("hanbit")
    if (data/"regs").is_dir(): data = data/"regs"     # the folder that holds it will do, too
    if not (data / "needs.jsonl").is_file(): print(f"파일이 없습니다: {data / 'needs.jsonl'}", file=sys.stderr); return 2
    needs = [n for n in read(data / "needs.jsonl") if n.get("answer") and n.get("relevant")][::30 if args.slice else 1]
    corpus = {d["_id"]: f"{d['title']}\n{d['text']}" for d in read(data / "corpus.jsonl")}
    plain = [[corpus[d] for d in n["relevant"] if d in corpus] for n in needs]; index = BM25Index([Passage(k, v) for k, v in corpus.items()])
    more = []
    for n, c in zip(needs, plain):
        found = [f[0] if isinstance(f, tuple) else f.doc_id for f in index.search(n["formal"], args.distractors + len(n["relevant"]) + 5)]
        more.append(c + [corpus[d] for d in found if d not in n["relevant"]][:args.distractors])
    for key in ("answer", "faithful"):
        if not any(n.get(key) for n in needs): continue
        put_back(needs, plain, key, "관련 조문", args.errors); put_back(needs, more, key, f"+다른 조문 {args.distractors}", args.errors)
    given(needs, plain)
    return 0

if __name__ == "__main__": kept.run(lambda: main(sys.argv[1:]), split="test", seed=0)

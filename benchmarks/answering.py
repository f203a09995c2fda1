"""Answers without a language model: how much is answered, is it in the articles, does it hold what was asked for, are the right articles cited?

usage: python benchmarks/answering.py [DATA] [--slice] [--formal] [--limit N] [--show N]
Without DATA: the bundled test half. With DATA (a folder that holds regs/, law/): their dev halves too; `--only law`: that alone. `--slice`: 20 formal queries of the bundled test half.
Retrieval: the default pipeline. Key facts are held where a sentence (or two) of the answer covers a fact as far as `claims.align` says, .6 or more, without a difference.
"""
import argparse, json, statistics, sys, time
from pathlib import Path

from rag_quality.answering import answerer_for
from rag_quality.claims import align
from rag_quality.data import bundled, load_collection
from rag_quality.core import bundle_path
from rag_quality.experiment import pipeline

import kept

HELD = .6


def rows(path):
    return {n["need"]: n for n in map(json.loads, path.read_text(encoding="utf8").splitlines())}


def article(collection, doc):
    "'휴학 규정 제3조' of a passage."
    from rag_quality.answering.parts import source_of
    return source_of(collection[doc]).label


def measure(name, collection, needs, queries, show=0):
    passages = {p.doc_id: p for p in collection.passages}
    system = pipeline(collection)[-1]
    assistant = answerer_for(collection, search=system.search)
    if queries: assistant.ask(queries[0].text)
    groups, shown = {}, 0
    for q in queries:
        need = needs[q.query_id.rsplit("-", 1)[0]]
        relevant = {d: g for d, g in (need.get("relevant") or {}).items() if d in passages}
        key = ("formal" if q.query_id.endswith("-f") else "colloquial") if relevant else "unanswerable"
        g = groups.setdefault(key, {"n": 0, "answered": 0, "uncertain": 0, "faith": [], "facts": [], "facts_if_found": [], "p": [], "r": [], "ms": [], "refused_with_hit": 0, "hit": 0, "claims": 0, "right": 0, "nothing": 0})
        start = time.perf_counter(); a = assistant.ask(q.text); g["ms"].append((time.perf_counter() - start) * 1000); g["n"] += 1
        best = {d for d, x in relevant.items() if x == 2}
        hit = bool(best & {p.doc_id for p, _ in system.search(q.text, 5).hits}) if relevant else False
        g["hit"] += hit; g["refused_with_hit"] += hit and a.abstained
        if a.abstained:
            if relevant: g["facts"].append(0.); g["r"].append(0.)
            continue
        g["answered"] += 1; g["uncertain"] += a.metadata.get("route") == "uncertain"
        if a.metadata.get("faithfulness") is not None: g["faith"].append(a.metadata["faithfulness"]); g["claims"] += 1
        if not relevant: continue
        body = a.content.replace(a.metadata.get("notice") or "\0", "")
        facts = [f["fact"] for f in need["key_facts"]]
        held = [al.coverage >= HELD and not al.differences for f in facts for al in [align(f, [body])]]
        right = bool(set(a.citations) & {article(passages, d) for d in relevant})
        g["right"] += right; g["nothing"] += not right and not any(held)
        if held: g["facts"].append(sum(held) / len(held)); hit and g["facts_if_found"].append(sum(held) / len(held))
        cited, wanted, main = set(a.citations), {article(passages, d) for d in relevant}, {article(passages, d) for d in best}
        if cited: g["p"].append(len(cited & wanted) / len(cited))
        g["r"].append(len(cited & main) / len(main) if main else 0.)
        if shown < show: shown += 1; print(f"--- {q.text}\n{a.content}\n   [{sum(held)}/{len(held)}] {need['answer']}")
    for key, g in sorted(groups.items()):
        mean = lambda x: f"{statistics.fmean(x):.3f}" if x else "-"
        print(f"{name} {key} (n={g['n']}): answered {g['answered']/g['n']:.3f} (with a notice {g['uncertain']/g['n']:.3f}), refused {1-g['answered']/g['n']:.3f}, "
              f"faithfulness {mean(g['faith'])} (n_scored {g['claims']}), ms p50 {statistics.median(g['ms']):.0f}")
        if key != "unanswerable":
            print(f"   an article of grade 2 among the first 5: {g['hit']/g['n']:.3f}; of these refused {g['refused_with_hit']/max(g['hit'],1):.3f}; key facts held {mean(g['facts'])} (refusals count 0), {mean(g['facts_if_found'])} where answered with such an article; "
                  f"answered with a right article cited {g['right']/g['n']:.3f}, with neither a right article nor a key fact {g['nothing']/g['n']:.3f} (of all asked); citations: precision {mean(g['p'])} (grade 1 or 2), recall {mean(g['r'])} (grade 2, refusals count 0)")


def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("data", nargs="?", type=Path); ap.add_argument("--slice", action="store_true"); ap.add_argument("--limit", type=int); ap.add_argument("--show", type=int, default=0); ap.add_argument("--formal", action="store_true", help="formal queries only")
    ap.add_argument("--only", help="one of the outer sets alone, without the bundled one"); ap.add_argument("--split", default="test", help="of the bundled collection")
    args = ap.parse_args()
    hanbit, needs = bundled("hanbit"), rows(bundle_path("hanbit", "needs.jsonl"))
    queries = [q for q in hanbit.queries if needs[q.query_id.rsplit("-", 1)[0]]["split"] == args.split]
    if args.slice: queries = [q for q in queries if q.query_id.endswith("-f")][:20]
    def asked(queries): return [q for q in queries if q.query_id.endswith("-f") or not args.formal][:args.limit]
    if not args.only: measure(f"hanbit {args.split}", hanbit, needs, asked(queries), args.show)
    if args.data and not args.slice:
        folders = [args.data/n for n in ("regs", "law") if (args.data/n).is_dir()] or [args.data]
        for folder in folders:
            if args.only and folder.name != args.only: continue
            if not (folder / "needs.jsonl").is_file(): print(f"파일이 없습니다: {folder/'needs.jsonl'}", file=sys.stderr); return 2
            outer = load_collection(folder); measure(f"{folder.name} dev", outer, rows(folder / "needs.jsonl"), asked(outer.queries), args.show)
    return 0


if __name__ == "__main__": kept.run(main, split="test")

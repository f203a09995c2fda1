"""What does reading the first ten hits with the question buy in search (`--reading`; every answer reads in that order)?

usage: python benchmarks/reading.py [DATA] [--slice]
The default pipeline with and without the last step, nDCG@10 and the share of queries whose first article answers (grade 2 or more): hanbit test, both registers;
benchmarks/asked, set 1 (seen; the weight was chosen on it among others) and sets 2 and 3 (not chosen on); with DATA (a folder that holds law/, regs/) law dev
(chosen on) and regs dev (not). The weight of the step was chosen on hanbit dev, law dev, data/asks test and set 1. No language model.
"""
import argparse
import json
import re
import time
from pathlib import Path

import numpy as np

from rag_quality.core import Query
from rag_quality.data import bundled, load_collection
from rag_quality.experiment import pipeline
from rag_quality.metrics import compare, evaluate
from rag_quality.relevance.reading import packaged_answer_reader

import kept

HERE = Path(__file__).parent/"asked"


def measured(name, asked):
    "Prints and gives the row of a set: [(system without, system with, queries, qrels)], scored together."
    before, after, qrels, took = {}, {}, {}, []
    for plain, reading, queries, some in asked:
        qrels |= some
        before |= plain.run(queries, 10)
        start = time.perf_counter()
        after |= reading.run(queries, 10)
        took.append((time.perf_counter() - start)/max(len(queries), 1))
    scores = [evaluate(qrels, r, ["nDCG@10"]) for r in (before, after)]
    c = compare(*scores, "nDCG@10", seed=0)
    mean = [float(np.mean(list(s.per_query["nDCG@10"].values()))) for s in scores]
    first = [float(np.mean([qrels[q].get(max(r.get(q) or {"": 0}, key=(r.get(q) or {"": 0}).get), 0) >= 2 for q in qrels])) for r in (before, after)]
    print(f"{name}: n {len(qrels)}, nDCG@10 {mean[0]:.3f} -> {mean[1]:.3f} ({c.difference:+.3f} [{c.low:+.3f}, {c.high:+.3f}], p {c.p:.4f}), first right {first[0]:.3f} -> {first[1]:.3f}", flush=True)
    return {"n": len(qrels), "전": mean[0], "후": mean[1], "차이": c.difference, "low": c.low, "high": c.high, "p": c.p, "첫째가 맞음, 전": first[0], "첫째가 맞음, 후": first[1]}


def both(collection):
    systems = pipeline(collection, reader=True)
    return systems[-2], systems[-1]


def judged(collection, queries):
    "The queries that an article answers, and their qrels."
    some = {q.query_id: collection.qrels[q.query_id] for q in queries if any(g >= 2 for g in collection.qrels.get(q.query_id, {}).values())}
    return [q for q in queries if q.query_id in some], some


def strangers(file, step):
    cases = [json.loads(line) for line in (HERE/file).read_text(encoding="utf8").splitlines()]
    for name in sorted({c["book"] for c in cases}):
        book = load_collection(HERE/name)
        queries, qrels = [], {}
        for k, c in list(enumerate(cases))[::step]:
            if c["book"] != name or not c["article"]:
                continue
            at = re.compile(re.escape(c["article"].replace(" ", "")) + r"(?!\d|의)")
            right = {p.doc_id: 2 for p in book.passages if at.search(p.title.replace(" ", ""))}
            if right:
                queries.append(Query(f"{name}-{k}", c["q"]))
                qrels[f"{name}-{k}"] = right
        if queries:
            yield *both(book), queries, qrels


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("data", nargs="?", type=Path)
    ap.add_argument("--slice", action="store_true")
    args = ap.parse_args()
    if packaged_answer_reader() is None:
        print("rag-quality-reader is not installed: pip install ./reader")
        return 3
    step, out = 20 if args.slice else 1, {}
    hanbit = bundled()
    systems = both(hanbit)
    for register, said in (("colloquial", "구어"), ("formal", "문어")):
        queries = [q for q in hanbit.split("test").judged if q.metadata.get("register") == register][::step]
        queries, qrels = judged(hanbit, queries)
        out[f"한빛 test, {said}"] = measured(f"hanbit test, {register}", [(*systems, queries, qrels)])
    for k, file in enumerate(("cases.jsonl", "cases2.jsonl", "cases3.jsonl"), 1):
        out[f"남의 규정집 {k}"] = measured(f"asked, set {k}", strangers(file, step))
    for name in ("law", "regs") if args.data and not args.slice else ():
        collection = load_collection(args.data/name)
        systems = both(collection)
        for register, said in (("colloquial", "구어"), ("formal", "문어")):
            queries, qrels = judged(collection, [q for q in collection.judged if (q.metadata.get("register") or ("formal" if q.query_id.endswith("-f") else "colloquial")) == register])
            out[f"{name} dev, {said}"] = measured(f"{name} dev, {register}", [(*systems, queries, qrels)])
    kept.note(n=sum(r["n"] for r in out.values()), reading=out)
    return 0


if __name__ == "__main__":
    kept.run(main, split="test, dev", seed=0)

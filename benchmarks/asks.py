"""Does the model that reads a question with an article know whether it answers (data/asks test), and what does that buy where it is decided whether to answer?

usage: python benchmarks/asks.py [DATA] [--slice]
1. data/asks test (one writer's articles and questions, none of them learnt from): AUROC of the log-odds, answered against not answered by the same article; with the same questions
   against the article that a word index likes best of the others; the share of questions whose answer stands in the sentence with the highest mark. Beside it what the question alone
   tells: a character n-gram classifier fitted on train, without the article.
2. The gate on hanbit dev (fitted there) and test, colloquial and formal, with and without the reader: the share of questions let through of those whose article is among the first
   five, of those that no article answers, of those whose article was not found; AUROC of the first against the rest. With DATA (a folder that holds law/, regs/): their dev halves too.
Default pipeline, no language model. `--slice`: every seventh question.
"""
import argparse
import json
from collections import defaultdict
from pathlib import Path

import numpy as np

from rag_quality.core import Passage, bundle_path
from rag_quality.data import bundled, load_collection
from rag_quality.experiment import pipeline
from rag_quality.grading.context import KnowingScorer
from rag_quality.metrics import auroc
from rag_quality.relevance.reading import packaged_answer_reader
from rag_quality.retrieval import BM25Index

import kept


def rows(name):
    return [json.loads(line) for line in (bundle_path("asks")/name).read_text(encoding="utf8").splitlines()]


def alone(train, test):
    "AUROC of a naive Bayes of letter triples over the question, without the article."
    counts = {True: defaultdict(int), False: defaultdict(int)}
    def triples(q):
        return {q[i:i + 3] for i in range(len(q) - 2)}
    for r in train:
        for t in triples(r["question"]):
            counts[r["answers"]][t] += 1
    n = {y: sum(r["answers"] == y for r in train) for y in counts}
    def odds(q):
        return sum(np.log((counts[True][t] + 1)/(n[True] + 2)) - np.log((counts[False][t] + 1)/(n[False] + 2)) for t in triples(q))
    return auroc([odds(r["question"]) for r in test], [r["answers"] for r in test])


def flat(text):
    return "".join(text.split())


def reading(reader, small):
    "The figures of data/asks test."
    test = rows("test.jsonl")[::7 if small else 1]
    passages = {p["_id"]: Passage(p["_id"], p["text"], p["title"]) for p in rows("passages.jsonl") if p["split"] == "test"}
    index = BM25Index(list(passages.values()))
    said = reader.read([(r["question"], passages[r["passage"]]) for r in test])
    yes = np.array([r["answers"] for r in test])
    odds = np.array([s.odds for s in said])
    asked = [r for r in test if r["answers"]]
    others = [next(d for d, _ in index.search(r["question"], 2) + [(d, 0) for d in passages] if d != r["passage"]) for r in asked]
    other = [s.odds for s in reader.read([(r["question"], passages[d]) for r, d in zip(asked, others)])]
    marked = [flat(r["span"]) in flat(max(s.marks, key=lambda m: m[1])[0]) for r, s in zip(test, said) if r["answers"]]
    return {
        "같은 조문이 답하나, AUROC": {"값": auroc(odds, yes), "n": len(test)},
        "다른 조문과, AUROC": {"값": auroc([*odds[yes], *other], [True]*int(yes.sum()) + [False]*len(other)), "n": 2*int(yes.sum())},
        "물음만 보고, AUROC": {"값": alone(rows("train.jsonl"), test), "n": len(test)},
        "답이 있는 문장을 짚음": {"값": float(np.mean(marked)), "n": len(marked)},
        **{f"말투 {k}, AUROC": {"값": auroc(odds[at], yes[at]), "n": int(at.sum())} for k in ("short", "case", "chat", "polite", "formal")
           for at in [np.array([r["style"] == k for r in test])]}}


def gate(collection, queries, small):
    "{register: {row: figures}} of a collection's queries, without and with the reader."
    system, scorers, found = pipeline(collection)[-1], {"낱말과 아는 것": KnowingScorer(collection.passages, reader=False), "읽는 모델도": KnowingScorer(collection.passages)}, defaultdict(list)
    for q in queries[::7 if small else 1]:
        told = collection.qrels.get(q.query_id, {})
        best = {d for d, g in told.items() if g >= 2}
        result = system.search(q.text, 5)
        hits = [p for p, _ in result.hits]
        also = result.text if result.text != q.text else None
        found["문어" if q.query_id.endswith("-f") else "구어"].append((
            bool(best & {p.doc_id for p in hits}), bool(told), *(s.score_context(q.text, hits, also=also).score if hits else 0. for s in scorers.values())))
    out = {}
    for register, some in found.items():
        hit, told, *scores = map(np.array, zip(*some))
        for name, score in zip(scorers, scores):
            passed = score >= .5
            share = lambda at: float(passed[at].mean()) if at.any() else None
            out[f"{register}, {name}"] = {"찾은 것": share(hit), "답 없는 것": share(~told), "못 찾은 것": share(told & ~hit), "AUROC": auroc(score, hit), "n": len(hit)}
    return out


def shown(name, table):
    for row, figures in table.items():
        print(f"{name}, {row}: " + ", ".join(f"{k} {'-' if v is None else v if k == 'n' else f'{v:.3f}'}" for k, v in figures.items()), flush=True)
    return table


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("data", nargs="?", type=Path)
    ap.add_argument("--slice", action="store_true")
    args = ap.parse_args()
    reader = packaged_answer_reader()
    if reader is None:
        print("rag-quality-reader is not installed: pip install ./reader")
        return 3
    tables = {"reading": shown("asks test", reading(reader, args.slice))}
    text = bundled()
    for split in ("dev",) if args.slice else ("dev", "test"):
        part = [q for q in text.queries if q.metadata.get("split") == split]
        tables[f"gate hanbit {split}"] = shown(f"hanbit {split}", gate(text, part, args.slice))
    for name in ("law", "regs") if args.data else ():
        there = load_collection(args.data/name)
        tables[f"gate {name} dev"] = shown(f"{name} dev", gate(there, there.queries, args.slice))
    kept.note(n=tables["reading"]["같은 조문이 답하나, AUROC"]["n"], **tables)


if __name__ == "__main__":
    kept.run(main)

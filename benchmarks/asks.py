"""Does the model that reads a question with an article know whether it answers (data/asks test), and what does that buy where it is decided whether to answer?

usage: python benchmarks/asks.py [DATA] [--slice] [--fit]
1. data/asks test (one writer's articles and questions, none of them learnt from): AUROC of the log-odds, answered against not answered by the same article; with the same questions
   against the article that a word index likes best of the others; the share of questions whose answer stands in the sentence with the highest mark. Beside it what the question alone
   tells: a character n-gram classifier fitted on train, without the article.
2. The gate on hanbit dev (fitted there) and test, colloquial and formal, with and without the reader: the share of questions let through of those whose article is among the first
   five, of those that no article answers, of those whose article was not found; AUROC of the first against the rest. With DATA (a folder that holds law/, regs/): their dev halves too.
`--fit`: instead, the weights of the gate for a colloquial question (grading.context) fitted anew: hanbit dev, data/asks test as one book, benchmarks/asked set 1, and with DATA
law and regs dev, each counted alike; the bias with which no more contexts without the answer pass than without the reader. Prints, keeps nothing.
Default pipeline, no language model. `--slice`: every seventh question.
"""
import argparse
import json
import re
from collections import defaultdict
from pathlib import Path

import numpy as np

from rag_quality.core import Passage, bundle_path
from rag_quality.data import Collection, bundled, load_collection
from rag_quality.experiment import pipeline
from rag_quality.grading.context import KnowingScorer
from rag_quality.korean.formality import detect_formality
from rag_quality.metrics import auroc
from rag_quality.relevance import fit_logistic
from rag_quality.relevance.reading import packaged_answer_reader
from rag_quality.retrieval import BM25Index

import kept

HERE = Path(__file__).parent/"asked"

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


def evidence(collection, queries, found):
    "(words' log-odds, the reader's best, log10 of the articles, is an article that answers among the first five, did it pass) of each colloquial query; `found`: query -> ids."
    system, plain, reader, out = pipeline(collection)[-1], KnowingScorer(collection.passages, reader=False), packaged_answer_reader(), []
    for q in queries:
        if detect_formality(q[:1000]).register != "colloquial":
            continue
        result = system.search(q, 5)
        hits = [p for p, _ in result.hits]
        if hits:
            p = plain.score_context(q, hits, also=result.text if result.text != q else None).score
            odds = max(r.odds for r in reader.read([(q, h) for h in hits]))
            out.append((logit(p), odds, plain._size(), bool(found[q] & {h.doc_id for h in hits}), p >= .5))
    return out


def logit(p):
    return float(np.log(np.clip(p, .001, .999)/(1 - np.clip(p, .001, .999))))


def developed(data, small):
    "{set: evidence} of the development halves."
    step, text = 7 if small else 1, bundled()
    def of(collection, queries):
        return evidence(collection, [q.text for q in queries[::step]], {q.text: {d for d, g in collection.qrels.get(q.query_id, {}).items() if g >= 2} for q in queries})
    yield "hanbit dev", of(text, [q for q in text.queries if q.metadata.get("split") == "dev"])
    passages = [Passage(p["_id"], p["text"], p["title"]) for p in rows("passages.jsonl") if p["split"] == "test"]
    asked = {r["question"]: {r["passage"]} if r["answers"] else set() for r in rows("test.jsonl")}
    yield "asks test", evidence(Collection("asks", passages), list(asked)[::step], asked)
    some = []
    for name in sorted({c["book"] for c in map(json.loads, (HERE/"cases.jsonl").read_text(encoding="utf8").splitlines())}):
        book, cases = load_collection(HERE/name), [c for c in map(json.loads, (HERE/"cases.jsonl").read_text(encoding="utf8").splitlines()) if c["book"] == name]
        place = {c["q"]: re.compile(re.escape(c["article"].replace(" ", "")) + r"(?!\d|의)") if c["article"] else None for c in cases}
        some += evidence(book, list(place), {q: {p.doc_id for p in book.passages if at and at.search(p.title.replace(" ", ""))} for q, at in place.items()})
    yield "asked set 1", some
    for name in ("law", "regs") if data else ():
        there = load_collection(data/name)
        yield f"{name} dev", of(there, there.queries)


def fitted(data, small):
    sets = {}
    for name, found in developed(data, small):
        sets[name] = found
        print(f"{name}: {len(found)} colloquial questions, {sum(f[3] for f in found)} with an answer among the first five", flush=True)
    every = [(f, 1/len(found)) for found in sets.values() for f in found]
    x = np.array([(w, z, z*n, n) for (w, z, n, _, _), _ in every])
    model = fit_logistic(x, [f[3] for f, _ in every], ("words", "reader", "reader*size", "size"), counts=[c for _, c in every], ridge=1e-5)
    score = lambda f: model.bias + sum(model.weights[k]*v for k, v in zip(("words", "reader", "reader*size", "size"), (f[0], f[1], f[1]*f[2], f[2])))
    missed = {name: [f for f in found if not f[3]] for name, found in sets.items()}
    allowed = sum(np.mean([f[4] for f in m]) for m in missed.values() if m)
    order = sorted(((score(f), 1/len(m)) for m in missed.values() for f in m), reverse=True)
    at = int(np.searchsorted(np.cumsum([c for _, c in order]), allowed))
    shift = -order[at][0] if at < len(order) else 0.
    print({**{k: round(v, 2) for k, v in model.weights.items()}, "bias": round(model.bias + shift, 2)})
    for name, found in sets.items():
        share = lambda some, new: f"{np.mean([(score(f) + shift >= 0) if new else f[4] for f in some]):.2f}" if some else "-"
        hit = [f for f in found if f[3]]
        print(f"{name}: let through of those found {share(hit, 0)} -> {share(hit, 1)}, of the others {share(missed[name], 0)} -> {share(missed[name], 1)}")


def shown(name, table):
    for row, figures in table.items():
        print(f"{name}, {row}: " + ", ".join(f"{k} {'-' if v is None else v if k == 'n' else f'{v:.3f}'}" for k, v in figures.items()), flush=True)
    return table


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("data", nargs="?", type=Path)
    ap.add_argument("--slice", action="store_true")
    ap.add_argument("--fit", action="store_true")
    args = ap.parse_args()
    reader = packaged_answer_reader()
    if reader is None:
        print("rag-quality-reader is not installed: pip install ./reader")
        return 3
    if args.fit:
        return fitted(args.data, args.slice)
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

"""Which weights of BM25 and vectors are best on a collection: python benchmarks/weights.py DIR [--split S] [--plain] [--measure M] [--encoder E]

DIR is a BEIR folder (corpus.jsonl, queries.jsonl, qrels/). Every figure of a rule with fitted numbers ('tuned by formality', 'one weight', ...)
is cross-validated over groups of regulations; 'default' is the packaged profile as it is (on the collection that it was chosen on, its figure is
not held out: see data/config/weights.json). The pipeline is the default one: rewritten query, neighbour words for colloquial queries; `--plain`:
the query as it is asked. Intervals: 95 % BCa over needs; p: paired permutation, Holm over the whole table.
"""
import argparse, sys, time
from pathlib import Path

from rag_quality.colloquial import ColloquialTransformer
from rag_quality.core import RagQualityError
from rag_quality.data import load_collection
from rag_quality.encoders import load_encoder
from rag_quality.korean.formality import detect_formality
from rag_quality.metrics import Scores, compare, holm, number, signed
from rag_quality.retrieval.fusion import MorphemeNeighbours
from rag_quality.retrieval import BM25Index
from rag_quality.weights import packaged_weights, read_rules
from rag_quality.weights.tuning import PROCEDURE, score_queries, tune_scores_table

import kept

NAMES = {"지금 설정": "default (packaged)", "말투": "tuned by formality", "말투의 정도": "tuned, smooth in formality", "말투와 통함": "tuned by formality and coverage", "통함": "tuned by coverage",
         "길이": "tuned by length", "말투와 길이": "tuned by formality and length", "무게 하나": "one weight, tuned (global)", "고정 0.3/0.7": "fixed 0.3 / 0.7",
         "spec (구어 0.3/0.7, 문어 0.5/0.5)": "spec: 0.3/0.7 colloquial, 0.5/0.5 formal", "RRF (k=60)": "RRF (k = 60)", "BM25만": "BM25 alone", "벡터만": "vectors alone", PROCEDURE: "tune, the whole procedure (nested)"}
AGAINST = ("무게 하나", "고정 0.3/0.7", "spec (구어 0.3/0.7, 문어 0.5/0.5)", "RRF (k=60)", "BM25만")

def searched(collection, encoder, plain):
    "How the default pipeline turns a query into what is searched."
    bm25 = BM25Index(collection.passages)
    if plain: return {"bm25": bm25}
    near, rewrite = MorphemeNeighbours(collection.passages), ColloquialTransformer()
    return {"bm25": bm25, "rewrite": lambda q: rewrite.transform(q).transformed_query,
            "terms_for": lambda asked, text: near.expand(text) if detect_formality(asked).register == "colloquial" else text}

def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("path", type=Path); ap.add_argument("--split"); ap.add_argument("--plain", action="store_true"); ap.add_argument("--slice", action="store_true")
    ap.add_argument("--measure", default="nDCG@10"); ap.add_argument("--encoder", default="kiwi"); ap.add_argument("--seed", type=int, default=0)
    args = ap.parse_args(); start = time.perf_counter()
    try:
        collection = load_collection(args.path); collection = collection.some(4) if args.slice else collection
        scores = score_queries(collection, encoder=load_encoder(args.encoder), split=args.split, measure=args.measure, **searched(collection, args.encoder, args.plain))
        found = tune_scores_table(scores, seed=args.seed, now=read_rules(packaged_weights()).rule("tuned"))
    except RagQualityError as e: print(e, file=sys.stderr); return 2
    m, parts = scores.measure, list(dict.fromkeys(r.slice for r in found.rows))
    print(f"{found.name}{' / ' + args.split if args.split else ''}: {m}, {found.n} queries, {found.n_groups} groups of regulations in {found.folds} folds; {time.perf_counter() - start:.0f} s")
    for name, label in NAMES.items():
        cells = [f"{'all' if p == '전체' else p} {number(i.mean)} [{number(i.low)}, {number(i.high)}] n {i.n_scored}" for p in parts for i in [found.row(name, p).mean]]
        print(f"  {label:42s} " + "   ".join(cells))
    own = {name: Scores({m: dict(zip(scores.query_ids, map(float, v)))}, scores.units) for name, v in found.values.items()}
    ids = {p: [q for q, r in zip(scores.query_ids, scores.registers) if p in ("전체", r)] for p in parts}
    pairs = [(a, b) for a in ("말투", "지금 설정") for b in AGAINST] + [(a, "BM25만") for a in ("고정 0.3/0.7", "spec (구어 0.3/0.7, 문어 0.5/0.5)")]   # the last: what the spec's weights cost or gain
    tests = [(a, b, p, compare(own[b].subset(ids[p]), own[a].subset(ids[p]), m, seed=args.seed)) for a, b in pairs for p in parts]
    print("differences (p: Holm over these lines)")
    for (a, b, p, c), adjusted in zip(tests, holm([c.p for *_, c in tests])):
        said = "no difference" if adjusted >= .05 else "better" if c.difference > 0 else "worse"
        print(f"  {NAMES[a]:42s} - {NAMES[b]:42s} {'all' if p == '전체' else p:11s} {signed(c.difference)} [{signed(c.low)}, {signed(c.high)}]  p {adjusted:.4f}  n {c.n}  {said}")
    formal = next((p for p in parts if p in ("formal", "written")), None)
    if formal and "colloquial" in parts:
        mean = {(n, p): found.row(n, p).mean.mean for n in NAMES for p in parts}
        lost = mean["BM25만", formal] - mean["지금 설정", formal]
        print(f"default, formal queries: loses {lost:+.3f} to BM25 alone (target: at most 0.01) {'ok' if lost <= .01 else 'MISSED'}")
        plain = {n: mean[n, "colloquial"] for n in AGAINST + ("벡터만",)}; best = max(plain, key=plain.get)
        print(f"default, colloquial queries: {mean['지금 설정', 'colloquial']:.3f}; best of the other candidates without formality {NAMES[best]} {plain[best]:.3f} (target: default is the best) "
              f"{'ok' if mean['지금 설정', 'colloquial'] >= plain[best] - 5e-4 else 'short by ' + number(plain[best] - mean['지금 설정', 'colloquial']) + ': see the interval above'}")
    print(f"rules chosen on the folds, by formality: {found.chosen['말투']}")
    print(f"families chosen by the whole procedure: {found.chosen[PROCEDURE]}")
    print(f"fitted on everything: {found.best}: {found.rule.to_dict() if found.winner == found.best else '(no difference: the default stays)'}")
    return 0

if __name__ == "__main__": kept.run(main, split="dev, test", seed=0)

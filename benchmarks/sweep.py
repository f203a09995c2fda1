"""What a sweep of settings shows and how far its best rows hold elsewhere: python benchmarks/sweep.py [--slice]

Every fourth need of dev is where rows are chosen; the other needs of dev are where they are compared again. Weights, dimensions, quantisation, BM25's numbers.
"""
import argparse

from rag_quality.data import Collection, bundled
from rag_quality.metrics import compare
from rag_quality.experiment.sweep import row_scores, sweep

import kept

GRID = dict(bm25=((.9, .4), (1.5, .75)), dims=(None, 64), pca=(False, True), quantisation=("none", "int8"), index=("flat",), normalizations=("minmax", "max"))

def asking(dev, name, chosen):
    queries = [q for q in dev.judged if q.metadata["pair"] in chosen]
    return Collection(name, dev.passages, queries, {q.query_id: dev.qrels[q.query_id] for q in queries})

def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("--slice", action="store_true", help="fewer needs and settings")
    args = ap.parse_args()
    dev = bundled().split("dev")
    needs = list(dict.fromkeys(q.metadata["pair"] for q in dev.judged))[:40 if args.slice else None]
    sample, others = asking(dev, "sample", set(needs[::4])), asking(dev, "others", set(needs) - set(needs[::4]))
    grid = {**GRID, "bm25": ((.9, .4),), "quantisation": ("none",)} if args.slice else GRID
    table, elsewhere = sweep(sample, **grid), sweep(others, **grid)
    exact = table[(table.k1 == .9) & (table.normalization == "minmax")]
    shown = exact[exact.vector_weight.isin((0, .3, .5, .7, 1))].assign(name=lambda t: t.dim.astype(str) + t.pca.map({True: " (주성분)", False: ""}) + " " + t.quantisation)
    best, words = exact.loc[exact["nDCG@10"].idxmax()], exact[exact.vector_weight == 0].iloc[0]
    there = compare(*(row_scores(others, r, measures="nDCG@10") for r in (words, best)), "nDCG@10")
    place = elsewhere["nDCG@10"].rank(ascending=False, method="min").astype(int)
    ranks = [int(place[i]) for i in table.reset_index(drop=True)["nDCG@10"].nlargest(5).index]
    chosen = {"차원": int(best["dim"]), "양자화": str(best["quantisation"]), "벡터의 무게": float(best["vector_weight"])}
    kept.note(n=len(dev.judged), weights={name: {f"무게 {w}": s for w, s in rows.items()} for name, rows in shown.pivot_table(index="name", columns="vector_weight", values="nDCG@10").to_dict("index").items()},
              best={**chosen, "고른 질의에서의 이득": float(best["nDCG@10"] - words["nDCG@10"]), "n (고른 질의)": len(sample.judged), "나머지 질의에서의 이득": there.difference, "95 %": [there.low, there.high], "p": there.p, "n (나머지)": there.n},
              ranks={"여기서 으뜸인 다섯의 나머지 질의에서의 자리": ranks, "줄": len(table)})
    print(f"rows {len(table)}; best on {len(sample.judged)} queries: {chosen}, {best['nDCG@10'] - words['nDCG@10']:+.3f}; on the other {there.n}: {there.difference:+.3f} [{there.low:+.3f}, {there.high:+.3f}], p {there.p:.3f}")
    print(f"places elsewhere of the best five: {ranks} of {len(table)}")

if __name__ == "__main__": kept.run(main, split="dev")

"""What weights that follow the query (phase 5) buy on hanbit test, against fixed ones and against weights fitted on dev: python benchmarks/phase_weights.py [--slice]

The query as it is asked, BM25 over morphemes with KiwiEncoder, every passage ranked; nothing is fitted on test. Last: the same within the default
pipeline. Wordings of one need are one unit. `--slice`: every eighth need, without the pipeline.
"""
import argparse

import numpy as np

from rag_quality.data import Collection, bundled
from rag_quality.experiment import pipeline, run_experiment
from rag_quality.experiment.steps import System
from rag_quality.retrieval import BM25Index, VectorStore
from rag_quality.weights import HybridWeightOptimizer
from rag_quality.weights.tuning import PROCEDURE, _families, score_queries, tune_scores_table

import changes
import kept
from phase_colloquial import part

CONSTANTS = {"0.5/0.5": .5, "0.3/0.7": .7}      # of the spec's retrievers, as BM25/vector


def fitted(dev):
    "Vector weights that are best on dev: (one for all, one for queries that read as colloquial, one for written ones)."
    curve, written = dev.curves["minmax"], dev.features.written == 1
    return tuple(float(curve[on].mean(0).argmax()) / 100 for on in (np.ones(len(written), bool), ~written, written))


def luck(dev):
    "How good the best of all rules looks on dev, where it was chosen, and what the same choice is worth on regulations that it did not see."
    values = np.concatenate([f.values for f in _families(dev)])
    return {"식의 수": len(values), "고른 자료에서 가장 좋은 식": float(values.mean(1).max()),
            "같은 절차, 보지 않은 규정에서": float(tune_scores_table(dev, resamples=200).values[PROCEDURE].mean()), "n": len(dev.query_ids)}


def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("--slice", action="store_true", help="every eighth need")
    slice_ = ap.parse_args().slice
    test, hanbit = part(slice_), bundled()
    measured = Collection(test.name, test.passages, test.queries, test.qrels)      # without its splits: nothing is chosen on it
    bm25, store = BM25Index(hanbit.passages), VectorStore(hanbit.passages)
    dev = score_queries(hanbit, split="dev", bm25=bm25, store=store)
    scores = score_queries(measured, bm25=bm25, store=store)
    texts = {q.query_id: q.text for q in test.queries}
    curve, written = scores.curves["minmax"], scores.features.written == 1
    one, colloquial, formal = fitted(dev)
    print(f"fitted on dev (n {len(dev.query_ids)}): one vector weight {one:.2f}; colloquial {colloquial:.2f}, written {formal:.2f}")

    def decided(profile):
        "The vector weight of each query as the optimizer decides."
        optimizer = HybridWeightOptimizer(profile, coverage_of=bm25.coverage)
        return np.array([optimizer.weights_for(texts[q]).vector_weight for q in scores.query_ids])

    def valued(weights):
        "query -> nDCG@10 at a weight each."
        at = np.rint(np.broadcast_to(weights, len(curve)) * 100).astype(int)
        return dict(zip(scores.query_ids, curve[np.arange(len(curve)), at].tolist()))

    ways = {**{name: valued(w) for name, w in CONSTANTS.items()}, "명세": valued(decided("spec")), "결정": valued(decided("tuned")),
            "dev 하나": valued(one), "dev 말투별": valued(np.where(written, formal, colloquial))}
    pairs = [("0.5/0.5", "결정"), ("0.3/0.7", "결정"), ("0.5/0.5", "명세"), ("결정", "dev 하나"), ("결정", "dev 말투별")]
    ids = {said: [q for q, r in zip(scores.query_ids, scores.registers) if r == name] for name, said in changes.KOREAN.items()}
    rows = []
    for said, own in ids.items():
        for b, a in pairs:
            before, after = ({q: ways[x][q] for q in own} for x in (b, a))
            rows.append((f"{said}, {b} → {a}", before, after, changes.paired("nDCG@10", before, after, scores.units)))
    if not slice_:
        full, fixed = pipeline(test)[-1], pipeline(test, weights=lambda query: (.5, .5))[-1]
        fixed = System("무게 0.5/0.5", fixed.steps, fixed.passages)
        rows += changes.steps(run_experiment(test, [fixed, full], by="register", measures=("nDCG@10",)), [("기본 구성, 0.5/0.5 → 결정", fixed.name, full.name)])
    table = changes.table(rows)
    changes.show(table)
    every = range(0, 101, 5)
    curves = {said: {f"{w/100:.2f}": float(curve[[r == name for r in scores.registers], w].mean()) for w in every} for name, said in changes.KOREAN.items()}
    for said, values in curves.items():
        best = max(values, key=values.get)
        print(f"{said}: best vector weight of the curve {best}, nDCG@10 {values[best]:.3f}, n {len(ids[said])}")
    chance = luck(dev)
    print("dev: " + ", ".join(f"{k} {v:.4f}" if isinstance(v, float) else f"{k} {v}" for k, v in chance.items()))
    kept.note(n=len(scores.query_ids), weights=table, luck=chance, curves=curves, fitted={"하나": one, "구어로 읽힌 질의": colloquial, "문어로 읽힌 질의": formal})


if __name__ == "__main__":
    kept.run(main, split="test", seed=0)

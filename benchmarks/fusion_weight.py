"""How fast the best fusion weight is found, beside ranx: python benchmarks/fusion_weight.py [--slice] [--seed N]

1. 1,000 queries x 100 candidates a run x 11 weights: `best_fusion_weight` and, where ranx is installed, `ranx.optimize_fusion`
   (warm: once before on the same runs, so that numba has compiled), in this one process on the same runs. ranx is no dependency of this
   project: install it in an environment of its own and put this project on its path to compare.
2. 1,000 queries x 5,042 passages x 1,001 weights x 3 normalisations, exact over all passages: `weight_curve`.
`--slice` runs a small part.
"""
import argparse, resource, time

import numpy as np

from rag_quality.weights.curve import best_fusion_weight, weight_curve

import kept

def random_runs(n, passages, depth, seed):
    """Runs that score the same `depth` candidates of a shared collection, better than chance, and 1 to 5 graded judgments a query.

    The same candidates, so that no two are tied: min-max makes the first of either run 1, and where each is missing from the other run
    both have 0.5 at weight 0.5. Ours are then ordered as trec_eval orders them; ranx sorts by an unstable quicksort, which no rule describes."""
    rng, ids = np.random.default_rng(seed), [f"d{i:05d}" for i in range(passages)]
    qrels, runs = {}, ({}, {})
    for q in range(n):
        rel = rng.choice(passages, int(rng.integers(1, 6)), replace=False)
        qrels[f"q{q}"] = {ids[j]: int(rng.integers(1, 3)) for j in rel}
        pool = np.unique(np.r_[rel[rng.random(len(rel)) < .9], rng.choice(passages, depth, replace=False)])
        pool = np.r_[np.intersect1d(pool, rel), rng.permutation(np.setdiff1d(pool, rel))][:depth]
        for run, scale in zip(runs, (20., .8)):
            score = scale * (rng.beta(2, 5, depth) + .5 * np.isin(pool, rel) * rng.random(depth))
            order = np.argsort(-score)
            run[f"q{q}"] = {ids[j]: float(x) for j, x in zip(pool[order], score[order])}
    return qrels, *runs

def seconds(f, times):
    "The median time of some calls, and the last result."
    took = []
    for _ in range(times):
        start = time.perf_counter(); out = f(); took.append(time.perf_counter() - start)
    return sorted(took)[times // 2], out

def by_ranx(qrels, one, two):
    "(cold seconds, warm seconds, best vector weight, its score) of ranx, or None where it is not installed."
    try: from ranx import Qrels, Run, evaluate, fuse, optimize_fusion
    except ImportError: return None
    judged = Qrels(qrels)
    def call():
        return optimize_fusion(qrels=judged, runs=[Run(one, name="bm25"), Run(two, name="dense")], norm="min-max", method="wsum", metric="ndcg@10", step=.1, show_progress=False)
    cold, _ = seconds(call, 1)
    warm, best = seconds(call, 1)
    w = best["weights"]
    score = evaluate(judged, fuse(runs=[Run(one), Run(two)], norm="min-max", method="wsum", params=best), "ndcg@10")
    return cold, warm, float(w[1]), float(score)

def compare(n, seed):
    "The search over 11 weights, both ways."
    runs = random_runs(n, 5042, 100, seed)
    ours, best = seconds(lambda: best_fusion_weight(*runs), 7)
    every, exact = seconds(lambda: best_fusion_weight(*runs, grid="continuous"), 1)
    print(f"best_fusion_weight, {n:,} queries x 100 candidates x 11 weights: {ours:.4f} s (target: well under 0.1), vector weight {best.vector_weight:g}, nDCG@10 {best.score:.6f}")
    print(f"    all weights between 0 and 1: {every:.2f} s, vector weight {exact.vector_weight:.4f}, nDCG@10 {exact.score:.6f}, {len(exact.curve):,} intervals")
    if (found := by_ranx(*runs)) is None: print("    ranx: not installed, not measured"); return
    cold, warm, w, score = found
    print(f"    ranx.optimize_fusion: first {cold:.2f} s, warm {warm:.2f} s: {warm/ours:.0f} times as long as ours (target: at least 50); vector weight {w:g}, nDCG@10 {score:.6f}")
    print(f"    same weight: {'yes' if abs(w - best.vector_weight) < 1e-9 else 'NO'}, same score: {'yes' if abs(score - best.score) < 1e-6 else f'NO ({score - best.score:+.2e})'}")

def whole(n, passages, seed):
    "The exact curve over a whole collection."
    rng = np.random.default_rng(seed)
    words = rng.gamma(1., 4., (n, passages)) * (rng.random((n, passages)) < .3)      # many passages share no word with the query
    dense = rng.normal(size=(n, passages)) * .1
    relevant = [{int(c): int(rng.integers(1, 3)) for c in rng.choice(passages, int(rng.integers(1, 6)), replace=False)} for _ in range(n)]
    for q, own in enumerate(relevant):
        for c in own: words[q, c] += 25 * rng.random(); dense[q, c] += .4 * rng.random()
    start, best = time.perf_counter(), {}
    for how in ("minmax", "max", "none"): best[how] = weight_curve(relevant, words, dense, normalization=how).best()
    took = time.perf_counter() - start
    print(f"weight_curve, {n:,} queries x {passages:,} passages x 1,001 weights x 3 normalisations, {sum(map(len, relevant)):,} relevant: {took:.2f} s (target: under 20), "
          f"at most {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.2f} GiB in all (target: under 2)")
    print("    " + "; ".join(f"{how}: vector weight {w:.3f}, nDCG@10 {s:.4f}" for how, (w, s) in best.items()))

def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("--slice", action="store_true"); ap.add_argument("--seed", type=int, default=0)
    args = ap.parse_args()
    whole(*((50, 1000) if args.slice else (1000, 5042)), args.seed)       # first: what it needs in memory is the peak of this process
    compare(50 if args.slice else 1000, args.seed)
    return 0

if __name__ == "__main__": kept.run(main, seed=0)

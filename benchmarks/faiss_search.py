"""Exact search on the CPU beside the bare matrix product and partial sort it needs: python benchmarks/faiss_search.py [--slice] [--n N] [--dim D] [--curve]

For 1, 32 and 1,024 queries: the time of `VectorIndex` (the least of several runs), of FAISS's IndexFlatIP where it is installed, and of
the bare work (queries @ vectors.T in batches of 256, then argpartition for k). Then: do the FAISS and numpy paths agree on the top 10
of random collections with ties?
"""
import argparse, time

import numpy as np

from rag_quality.core import MissingExtra
from rag_quality.retrieval.faiss import VectorIndex

import kept

def unit(x): return x / np.linalg.norm(x, axis=1, keepdims=True)

def fastest(runs, *functions):
    "The least seconds of each function over several runs, taken in turn, so that a busy machine slows them alike."
    best = [float("inf")] * len(functions)
    for f in functions: f()
    for _ in range(runs):
        for i, f in enumerate(functions):
            start = time.perf_counter(); f(); best[i] = min(best[i], time.perf_counter() - start)
    return best

def bare(vectors, queries, k):
    for a in range(0, len(queries), 256):
        s = queries[a:a + 256] @ vectors.T
        np.argpartition(s, len(vectors) - k, axis=1)[:, -k:]

def speed(n, dim, runs):
    rng = np.random.default_rng(0)
    vectors, worst = unit(rng.standard_normal((n, dim), np.float32)), 0.0
    index = VectorIndex(vectors, device="cpu")
    try: by_faiss = VectorIndex(vectors, device="cpu", engine="faiss")
    except MissingExtra: by_faiss = None
    for count, k in ((1, 10), (32, 10), (1024, 10), (1024, 100)):
        queries = unit(rng.standard_normal((count, dim), np.float32))
        more = [lambda: by_faiss.search_batch(queries, k)] if by_faiss else []
        floor, ours, *other = fastest({1: 60, 32: 8}.get(count, 1) * runs, lambda: bare(vectors, queries, k), lambda: index.search_batch(queries, k), *more)
        worst = max(worst, ours / floor)
        print(f"{n:,} x {dim}, {count} queries, k={k}: bare {1000*floor:.1f} ms, VectorIndex {1000*ours:.1f} ms, ratio {ours/floor:.2f}"
              + (f"; over FAISS {1000*other[0]:.1f} ms" if other else ""))
    print(f"worst ratio {worst:.2f} (target: at most 1.30)")

def curve(dim, largest):
    "Milliseconds and recall by number of vectors, for the table of the capacity page."
    rng = np.random.default_rng(0); centres = rng.standard_normal((1000, dim), np.float32)
    for n in (n for n in (10_000, 30_000, 100_000, 300_000, 1_000_000) if n <= largest):
        make = lambda m: unit(centres[rng.integers(0, 1000, m)] + rng.standard_normal((m, dim), np.float32)).astype(np.float32)
        vectors, queries = make(n), make(1024); exact = VectorIndex(vectors, device="cpu").search_batch(queries, 10)[1]
        for kind in ("flat", "ivf", "hnsw") if n <= 100_000 else ("flat", "ivf"):
            start = time.perf_counter(); index = VectorIndex(vectors, kind=kind, device="cpu"); built = time.perf_counter() - start
            one, batch = fastest(20, lambda: index.search_batch(queries[:1], 10), lambda: None)[0], fastest(2, lambda: index.search_batch(queries, 10), lambda: None)[0]
            recall = (index.search_batch(queries, 10)[1][:, :, None] == exact[:, None]).any(2).mean()
            print(f"{kind} {n} x {dim}: {index.memory_bytes/2**20:.0f} MB, built in {built:.1f} s, one query {1000*one:.2f} ms, of 1,024 together {1000*batch/1024:.3f} ms each, recall@10 {recall:.3f}", flush=True)

def agreement(trials):
    rng, same, asked = np.random.default_rng(1), 0, 0
    for _ in range(trials):
        n, dim = int(rng.integers(1, 3000)), int(rng.integers(2, 300))
        vectors = unit(rng.standard_normal((n, dim))).astype(np.float32)
        vectors[rng.integers(0, n, n // 3)] = vectors[rng.integers(0, n, n // 3)]
        queries = vectors[rng.integers(0, n, 50)] + np.float32(.01) * rng.standard_normal((50, dim)).astype(np.float32)
        a, b = (VectorIndex(vectors, device="cpu", engine=e).search_batch(queries, 10)[1] for e in ("numpy", "faiss"))
        same += int((a == b).all(1).sum()); asked += 50
    print(f"FAISS and numpy, the same top 10 in the same order: {same}/{asked} queries over {trials} random collections (target: all)")
    return same == asked

def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("--slice", action="store_true"); ap.add_argument("--n", type=int, default=100_000); ap.add_argument("--dim", type=int, default=256)
    ap.add_argument("--runs", type=int, default=5)
    ap.add_argument("--curve", action="store_true", help="times by size up to --n, for the capacity page")
    args = ap.parse_args()
    if args.curve: curve(args.dim, args.n); return 0
    speed(5_000 if args.slice else args.n, args.dim, 3 if args.slice else args.runs)
    try: return 0 if agreement(5 if args.slice else 40) else 1
    except MissingExtra as e: print(f"agreement not measured: {e}"); return 0

if __name__ == "__main__": kept.run(main, seed=0)

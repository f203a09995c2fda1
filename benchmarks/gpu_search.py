"""Flat search on a GPU beside a stated bound, and 20 configurations on GPU and CPU: python benchmarks/gpu_search.py [--n N] [--slice]

10 million x 1,024 float16 vectors, 1,024 queries, k = 100. The bound, from bandwidth and matrix rate measured here with torch: FAISS
multiplies (reads the vectors once, writes all distances), then selects (reads the distances again):
    max(operations / rate, (vectors + distances) / bandwidth) + distances / bandwidth
Without a GPU, faiss-gpu or (for the measured rates) torch the script says 'not measured' and claims nothing.
"""
import argparse, time

import numpy as np

from rag_quality.core import MissingExtra, import_extra
from rag_quality.retrieval.faiss import VectorIndex, pick_device

import kept

def unit16(n, dim, seed=0):
    "Random directions in float16, made a block at a time."
    out, rng = np.empty((n, dim), np.float16), np.random.default_rng(seed)
    base = rng.standard_normal((65_536 + dim, dim), np.float32); base /= np.linalg.norm(base, axis=1, keepdims=True)
    for a in range(0, n, 65_536):                                # the same directions in another order of dimensions: cheap, all different
        z = min(a + 65_536, n); out[a:z] = base[:z - a, rng.permutation(dim)]
    return out

def fastest(f, runs, wait=lambda: None):
    best = float("inf"); f(); wait()
    for _ in range(runs): start = time.perf_counter(); f(); wait(); best = min(best, time.perf_counter() - start)
    return best

def rates():
    "(bytes a second, operations a second) of the GPU: a copy of 4 GB and a float16 product of 8,192 x 8,192, as torch does them."
    torch = import_extra("torch", "dense")
    if not torch.cuda.is_available(): raise MissingExtra("torch가 GPU를 보지 못합니다")
    wait = torch.cuda.synchronize
    a = torch.empty(2**31, dtype=torch.float16, device="cuda"); b = torch.empty_like(a)
    bandwidth = 2 * 2 * a.numel() / fastest(lambda: b.copy_(a), 10, wait)
    del a, b
    x = torch.randn(8192, 8192, dtype=torch.float16, device="cuda"); y = torch.empty_like(x)
    rate = 2 * 8192**3 / fastest(lambda: torch.mm(x, x, out=y), 20, wait)
    del x, y; torch.cuda.empty_cache()
    return bandwidth, rate

def flat(n, dim, count, k):
    queries = unit16(count, dim, 1).astype(np.float32)
    start = time.perf_counter(); index = VectorIndex(unit16(n, dim), device="cuda", float16=True); built = time.perf_counter() - start
    raw = fastest(lambda: index._search(queries, k), 5)
    whole = fastest(lambda: index.search_batch(queries, k), 3)
    print(f"{n:,} x {dim} float16, {count:,} queries, k={k}: FAISS {1000*raw:.1f} ms, VectorIndex (float64 order of what FAISS found) {1000*whole:.1f} ms; built in {built:.0f} s")
    try: bandwidth, rate = rates()
    except MissingExtra as e: print(f"bound not measured: {e}"); return
    vectors, distances, operations = 2 * n * dim, 4 * n * count, 2 * n * dim * count
    bound = max(operations / rate, (vectors + distances) / bandwidth) + distances / bandwidth
    print(f"measured {bandwidth/1e12:.2f} TB/s, {rate/1e12:.0f} TFLOP/s; bound {1000*bound:.1f} ms (operations {1000*operations/rate:.1f}, vectors {1000*vectors/bandwidth:.1f}, "
          f"distances {1000*distances/bandwidth:.1f} written and {1000*distances/bandwidth:.1f} read again): {bound/raw:.0%} of the bound (target: at least 60 %)")

def twenty(n, dim, count, k):
    "20 configurations (10 numbers of dimensions x float32 and float16), built and searched on either device."
    vectors, queries, seconds, same = unit16(n, dim).astype(np.float32), unit16(count, dim, 1).astype(np.float32), {}, {}
    for device in ("cuda", "cpu"):
        start = time.perf_counter()
        for d in np.linspace(dim // 10, dim, 10).astype(int):
            for half in (False, True): same.setdefault((d, half), []).append(VectorIndex(np.ascontiguousarray(vectors[:, :d]), device=device, float16=half).search_batch(queries[:, :d], k)[1])
        seconds[device] = time.perf_counter() - start
    equal = np.mean([(a == b).all(1).mean() for a, b in same.values()])
    print(f"20 configurations over {n:,} x {dim}, {count:,} queries, k={k}: GPU {seconds['cuda']:.1f} s, CPU {seconds['cpu']:.1f} s, {seconds['cpu']/seconds['cuda']:.1f} times faster "
          f"(target: at least 20); the same rows for {equal:.2%} of queries")

def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("--n", type=int, default=10_000_000); ap.add_argument("--slice", action="store_true")
    args = ap.parse_args()
    gpus, why = pick_device("cuda")
    if not gpus: print(f"not measured: {why}"); return 0
    n = 200_000 if args.slice else args.n
    flat(n, 1024, 1024, 100); twenty(max(10_000, n // 20), 1024, 4096, 100)
    return 0

if __name__ == "__main__": kept.run(main, seed=0)

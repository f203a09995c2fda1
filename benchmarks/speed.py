"""Speed and memory, measured (a script, not a timed test): formality + transform + expansion a query, `evaluate` cold and warm, `--help`.

usage: python benchmarks/speed.py [BEIR_FOLDER] [--slice]      default collection: the bundled one
"""
import argparse, os, resource, subprocess, sys, tempfile, time
from pathlib import Path

import numpy as np

from rag_quality.colloquial import ColloquialTransformer, detect_formality
from rag_quality.data import bundled, load_collection
from rag_quality.morphology import MorphologicalExpander

import kept

CLI = Path(sys.executable).parent / "rag-quality"

def per_query(texts):
    "Milliseconds of one pass over distinct texts, nothing cached but the loaded models."
    transformer, expander = ColloquialTransformer(), MorphologicalExpander()
    for t in ("휴학 어떻게 해?", "등록금은 언제까지 내야 하나요?"): transformer.transform(t), expander.expand(t, mode="full"), detect_formality(t)
    out = []
    for t in texts:
        start = time.perf_counter()
        detect_formality(t); expander.expand(transformer.transform(t).transformed_query, mode="full")
        out.append((time.perf_counter() - start) * 1000)
    return np.array(out)

def command(*args, cache):
    "Wall seconds of a `rag-quality` command."
    start = time.perf_counter()
    subprocess.run([CLI, *args], check=True, capture_output=True, env={**os.environ, "RAG_QUALITY_CACHE": cache})
    return time.perf_counter() - start

def main():
    ap = argparse.ArgumentParser(); ap.add_argument("folder", nargs="?"); ap.add_argument("--slice", action="store_true")
    args = ap.parse_args()
    collection = load_collection(args.folder) if args.folder else bundled()
    texts = [q.text for q in collection.queries]
    ms = per_query(texts[:60] if args.slice else texts)
    print(f"formality + transform + expansion, {len(ms)} queries: p50 {np.percentile(ms, 50):.2f} ms (target < 1), p99 {np.percentile(ms, 99):.2f} ms (target < 5)")
    with tempfile.TemporaryDirectory() as d:
        helps = sorted(command("--help", cache=d) for _ in range(1 if args.slice else 5))
        print(f"rag-quality --help: {helps[len(helps)//2]:.2f} s (target < 0.5)")
        if args.slice: return
        data = ["--data", args.folder] if args.folder else []
        cold = command("evaluate", "--by", "register", *data, cache=d)
        warm = command("evaluate", "--by", "register", *data, cache=d)
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 2**20
        print(f"evaluate, {len(collection.passages):,} passages, {len(collection.judged)} queries: cold {cold:.1f} s (target < 60), "
              f"again {warm:.1f} s (target < 10), peak {peak:.2f} GiB (target < 1.5)")

if __name__ == "__main__": kept.run(main, modules=["rag_quality.cli"])

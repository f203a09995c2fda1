"""The hanbit benchmark of the default pipeline, as `rag-quality benchmark` gives it: python benchmarks/tasks.py [--full] [--slice]

dev: retrieval, transformation, citation and context. --full: every task on test, answers among them (many minutes).
"""
import argparse

from rag_quality.benchmark import run_benchmark

import kept

def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("--full", action="store_true")
    ap.add_argument("--slice", action="store_true", help="context only")
    args = ap.parse_args()
    split = "test" if args.full else "dev"
    result = run_benchmark(tasks=None if args.full else ["context"] if args.slice else ["retrieval", "transformation", "citation", "context"], split=split)
    rows = {}
    for f in result.figures:
        rows[f"{f.task}, {f.part}, {f.measure}"] = {"값": f.value, "95 %": [f.low, f.high], "MDE": f.mde, "n": f.n}
        print(f"{f.task}, {f.part}, {f.measure}: {f.value} [{f.low}, {f.high}] (n {f.n})")
    kept.note(split=split, figures=rows)

if __name__ == "__main__": kept.run(main, seed=0)

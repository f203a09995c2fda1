"""Semantic evaluation: similarity against human scores, contradictions found, same meaning or not, and its speed.

usage: python benchmarks/semantic.py [FILE.tsv...] [--split dev|test] [--encoder E] [--slice]
       rows of a FILE: score <tab> [binary <tab>] sentence <tab> sentence (KorSTS, KLUE-STS); without one, the bundled contrast pairs alone
"""
import argparse, sys, time
from collections import Counter
from pathlib import Path

import numpy as np
from scipy.stats import spearmanr

from rag_quality.semantic_eval.calibration import contrast_pairs, prior_weights, reliability
from rag_quality.metrics import auroc, number
from rag_quality.semantic_eval import SemanticEvaluator

import kept

ONE_WORD = ("number", "unit", "negation", "exception")

def interval(hits, n_boot=2000):
    "Percentile bootstrap of a share."
    hits = np.asarray(hits, float); draws = np.random.default_rng(0).choice(hits, (n_boot, len(hits))).mean(1)
    return f"{hits.mean():.3f} [{np.quantile(draws, .025):.3f}, {np.quantile(draws, .975):.3f}] (n {len(hits)})"

def external(evaluator, path, limit):
    rows = [line.split("\t") for line in path.read_text(encoding="utf8").splitlines() if line.strip()][:limit]
    score = np.array([float(r[0]) for r in rows]); found = np.array(evaluator.batch_evaluate([r[-2] for r in rows], [r[-1] for r in rows]))
    print(f"{path.parent.name}/{path.name}  n={len(rows)}  Spearman {100*spearmanr(found, score)[0]:.1f} (목표 KorSTS 74, KLUE-STS 62)", end="")
    print(f"  이진 AUROC {number(auroc(found, np.array([r[1] == '1' for r in rows])))} (목표 0.78)" if len(rows[0]) > 3 else "")

def contrast(evaluator, split, limit):
    pairs = contrast_pairs(split)[:limit]
    results = evaluator.evaluate_many([d["a"] for d in pairs], [d["b"] for d in pairs])
    same = np.array([d["label"] == "same" for d in pairs]); kind = np.array([d["kind"] for d in pairs])
    flagged = np.array([bool(r.contradictions) for r in results]); agrees = np.array([r.agrees for r in results]); relevant = np.array([r.is_relevant for r in results])
    print(f"contrast/{split}  n={len(pairs)}")
    print(f"  어긋남을 찾음 (수·단위·부정·예외)  {interval(flagged[np.isin(kind, ONE_WORD)])}  목표 0.95")
    print(f"  어긋남을 찾음 (모든 갈래)           {interval(flagged[~same & ~np.char.startswith(kind, 'other')])}")
    print(f"  바른 답에 잘못 울림                 {interval(flagged[same])}  목표 0.05 미만")
    print(f"  정확도 (같은 뜻인가)                {interval(agrees == same)}  목표 0.90   [관련만 보면 {np.mean(relevant[same]):.3f}이 관련, 다른 이야기는 {np.mean(relevant[np.char.startswith(kind, 'other')]):.3f}]")
    print("  갈래마다 " + ", ".join(f"{k} {flagged[kind == k].sum()}/{n}" for k, n in Counter(kind.tolist()).items()))
    p = np.array([r.similarity for r in results]); k = same | np.char.startswith(kind, "other")
    if evaluator.calibration and 0 < same[k].mean() < 1: print(f"  ECE {reliability(p[k], same[k], weights=prior_weights(same[k], evaluator.calibration.prior)).ece:.3f} (같은 짝과 다른 이야기 짝)")

def speed(evaluator, n):
    pairs = contrast_pairs("dev"); a, b = [d["a"] for d in pairs], [d["b"] for d in pairs]
    evaluator.evaluate(a[0], b[0]); fresh = [f"{x} 확인 번호 {i}." for i, x in enumerate(a[:n])]
    times = []
    for x, y in zip(fresh, b):
        t = time.perf_counter(); evaluator.evaluate(x, y); times.append(1000*(time.perf_counter() - t))
    many_a, many_b = (a*4)[:2000], (b*4)[:2000]
    evaluator.batch_evaluate(many_a, many_b)
    t = time.perf_counter(); evaluator.batch_evaluate(many_a, many_b); rate = len(many_a) / (time.perf_counter() - t)
    print(f"속도  한 쌍 p50 {np.median(times):.2f} ms, p95 {np.quantile(times, .95):.2f} ms (목표 5 ms 미만)  묶음 {rate:,.0f}쌍/초 (목표 2,000)")

def main(argv):
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("files", nargs="*", type=Path); ap.add_argument("--split", default="test", choices=("dev", "test")); ap.add_argument("--encoder", default="kiwi"); ap.add_argument("--slice", action="store_true")
    args = ap.parse_args(argv); limit = 60 if args.slice else None
    if missing := [f for f in args.files if not f.is_file()]: print(f"파일이 없습니다: {missing[0]}"); return 2
    evaluator = SemanticEvaluator(args.encoder)
    for path in args.files: external(evaluator, path, limit)
    contrast(evaluator, args.split, limit); speed(evaluator, 40 if args.slice else 300)
    return 0

if __name__ == "__main__": kept.run(lambda: main(sys.argv[1:]), split="test")

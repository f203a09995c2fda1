"""Do two texts say the same? The semantic evaluator on data/contrast beside word overlap and a bare cosine: python benchmarks/contrast.py [--slice]

Test: 440 pairs that the calibration has not seen. Accuracy of 'the same' (related and nothing contradicts), contradictions found, false alarms, reliability.
The thresholds of the other two are the best ones of dev. Further: the calibration learned on one half of its pairs and seen on the other.
"""
import argparse

import numpy as np

from rag_quality.semantic_eval.calibration import calibration_pairs, contrast_pairs, evidence, fit_calibration, prior_weights, reliability
from rag_quality.encoders import KiwiEncoder
from rag_quality.korean import content_morphemes
from rag_quality.semantic_eval import SemanticEvaluator

import kept

def words(text): return set(content_morphemes(text))

def jaccard(pairs): return np.array([len(words(d["a"]) & words(d["b"]))/max(len(words(d["a"]) | words(d["b"])), 1) for d in pairs])

def best(scores, same) -> float: return max((float(((scores >= t) == same).mean()), float(t)) for t in np.unique(scores.round(3)))[1]

def halves() -> float:
    "ECE on the half of the pairs that a calibration was not fitted on."
    e = KiwiEncoder()
    answers, expected, same = calibration_pairs(e)
    rows = evidence(answers, expected, (e.encode(answers)*e.encode(expected)).sum(1))
    half = np.arange(len(same)) % 2 == 0
    c = fit_calibration(rows[half], same[half], encoder="kiwi")
    return reliability(c.probability(rows[~half]), same[~half], weights=prior_weights(same[~half], c.prior)).ece

def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("--slice", action="store_true", help="80 pairs")
    args = ap.parse_args()
    test, dev, evaluator = contrast_pairs("test")[:80 if args.slice else None], contrast_pairs("dev"), SemanticEvaluator()
    results = evaluator.evaluate_many([d["a"] for d in test], [d["b"] for d in test])
    same, dev_same = (np.array([d["label"] == "same" for d in pairs]) for pairs in (test, dev))
    other = np.array([d["kind"].startswith("other") for d in test])
    one = ~same & ~other
    flagged, agrees, relevant = (np.array([f(r) for r in results]) for f in (lambda r: bool(r.contradictions), lambda r: r.agrees, lambda r: r.is_relevant))
    def cosine(pairs): return evaluator.similarity.cosines([d["a"] for d in pairs], [d["b"] for d in pairs])
    rows = {}
    for name, score in (("형태소 Jaccard", jaccard), ("코사인", cosine)):
        t = best(score(dev), dev_same)
        rows[name] = {"정확도": ((score(test) >= t) == same).mean(), "문턱": t}
    rows["유사도만"] = {"정확도": (relevant == same).mean(), "문턱": evaluator.threshold}
    rows["유사도와 어긋남"] = {"정확도": (agrees == same).mean(), "문턱": evaluator.threshold}
    about, p = same | other, np.array([r.similarity for r in results])
    r = reliability(p[about], same[about], bins=5, weights=prior_weights(same[about], evaluator.calibration.prior))
    found = {"어긋남을 찾음": flagged[one].mean(), "n (어긋남)": int(one.sum()), "오경보": flagged[same].mean(), "n (같음)": int(same.sum())}
    kept.note(n=len(test), accuracy=rows, found=found, reliability={"말한 확률": list(r.said), "본 비율": list(r.seen), "칸의 n": [int(x) for x in r.n], "ECE": r.ece})
    for name, row in rows.items(): print(f"{name:10} 정확도 {row['정확도']:.3f} (문턱 {row['문턱']:.2f}, n {len(test)})")
    print(f"어긋남을 찾음 {found['어긋남을 찾음']:.3f} (n {one.sum()}), 오경보 {found['오경보']:.3f} (n {same.sum()}), ECE {r.ece:.3f}")
    if not args.slice:
        ece = halves()
        kept.note(unseen_half_ece=ece)
        print(f"보정을 배우지 않은 절반의 ECE {ece:.3f}")

if __name__ == "__main__": kept.run(main, split="test", seed=0)

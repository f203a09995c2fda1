"""Do two texts say the same? Word overlap and a cosine against the evaluator (phase 3): python benchmarks/phase_semantic_eval.py [--slice]

Test half of data/contrast: 440 pairs that the calibration has not seen; a pair counts 1 where 'the same' or 'not the same' is right.
The thresholds of word overlap and cosine are those of the best balanced accuracy on dev; the evaluator keeps its 0.75.
By kind of difference: the same against word overlap. `--slice`: every sixth pair.
"""
import argparse

import numpy as np

from rag_quality.korean import content_morphemes
from rag_quality.semantic_eval import SemanticEvaluator
from rag_quality.semantic_eval.calibration import contrast_pairs

import changes
import kept

KINDS = {"number": "수", "unit": "단위", "bound": "한계", "negation": "부정", "modality": "양태", "exception": "예외", "name": "이름",
         "condition": "조건", "other-fact": "다른 사실", "other-topic": "다른 이야기", "register": "말투", "equal-value": "값이 같은 수량",
         "synonym": "다른 낱말", "structure": "다른 짜임", "detail": "군말"}


def jaccard(pairs):
    "Shared content morphemes over all of them, a value a pair."
    sets = [(set(content_morphemes(d["a"])), set(content_morphemes(d["b"]))) for d in pairs]
    return np.array([len(a & b)/max(len(a | b), 1) for a, b in sets])


def threshold(scores, same):
    "Where the mean of both classes' accuracy is best."
    def balanced(t):
        return ((scores[same] >= t).mean() + (scores[~same] < t).mean())/2
    return max((balanced(t), float(t)) for t in np.unique(scores.round(3)))[1]


def right(verdicts, pairs):
    "pair -> 1.0 where the verdict is the label."
    return {d["id"]: float(v == (d["label"] == "same")) for d, v in zip(pairs, verdicts)}


def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("--slice", action="store_true", help="every sixth pair")
    test, dev, evaluator = contrast_pairs("test")[::6 if ap.parse_args().slice else 1], contrast_pairs("dev"), SemanticEvaluator()

    def cosine(pairs):
        return evaluator.similarity.cosines([d["a"] for d in pairs], [d["b"] for d in pairs])

    same = np.array([d["label"] == "same" for d in dev])
    naive, thresholds = {}, {}
    for name, score in (("낱말의 겹침", jaccard), ("코사인", cosine)):
        thresholds[name] = threshold(score(dev), same)
        naive[name] = right(score(test) >= thresholds[name], test)
    results = evaluator.evaluate_many([d["a"] for d in test], [d["b"] for d in test])
    verdicts = {"유사도": right([bool(r.is_relevant) for r in results], test), "유사도와 어긋남": right([r.agrees for r in results], test)}

    def row(label, before, after, pairs=test):
        b, a = ({d["id"]: values[d["id"]] for d in pairs} for values in (before, after))
        return label, b, a, changes.paired("맞은 판정", b, a)

    after = verdicts["유사도와 어긋남"]
    tables = {
        "semantic_eval": changes.table([
            row("낱말의 겹침 → 의미 평가", naive["낱말의 겹침"], after), row("코사인 → 의미 평가", naive["코사인"], after),
            row("유사도만 → 어긋남도 봄", verdicts["유사도"], after)]),
        "kinds": changes.table([
            row(f"{'같음' if pairs[0]['label'] == 'same' else '다름'}: {KINDS[k]}", naive["낱말의 겹침"], after, pairs)
            for k in KINDS if (pairs := [d for d in test if d["kind"] == k])])}
    for name, rows in tables.items():
        print(name)
        changes.show(rows)
    print("문턱: " + ", ".join(f"{k} {v:.3f}" for k, v in thresholds.items()))
    kept.note(n=len(test), thresholds=thresholds, **tables)


if __name__ == "__main__":
    kept.run(main, split="test", seed=0)

"""Fit the trees that turn the signs of a claim into its score (data/config/faithfulness.json, `model`).

usage: python benchmarks/faithfulness_fit.py DATA [--write]      DATA: a folder with regs/needs.jsonl and regs/corpus.jsonl

Fitted on the claims of the reference answers, faithful paraphrases and answers with one false sentence of regs dev, and on the pairs of
data/contrast dev at weight 0.15. Prints the figures cross-validated by need; `--write` writes the model to ./data/config. Needs scikit-learn ([dense]).
"""
import argparse, json, sys
from pathlib import Path

import numpy as np

from rag_quality.calibration import contrast_pairs
from rag_quality.core import load_config, nfc, save_config
from rag_quality.support_claims import checked_claims
from rag_quality.support_parts import read_source

FOLDS, CUT, WEIGHT, SEEDS = 9, .52, .15, (0, 1)

def regs_claims(folder:Path) -> list[dict]:
    "Every claim of the answers of the needs: its signs, and whether it stands in the false span."
    corpus = {d["_id"]: nfc(f"{d['title']}\n{d['text']}") for d in map(json.loads, open(folder/"corpus.jsonl", encoding="utf8"))}
    rows = []
    for need in map(json.loads, open(folder/"needs.jsonl", encoding="utf8")):
        source = read_source(tuple(corpus[d] for d in need["relevant"] if d in corpus))
        for kind, text, span in [("answer", need["answer"], None), ("faithful", need["faithful"], None), *((u["kind"], u["text"], u["span"]) for u in need["unfaithful"])]:
            text = nfc(text); at = text.find(nfc(span)) if span else -1
            for f in checked_claims(text, source):
                c = f.cited.claim
                rows.append({"need": need["need"], "kind": kind, "answer": text, "signs": f.signs, "bad": at >= 0 and c.start < at + len(nfc(span)) and c.end > at})
    return rows

def contrast_claims() -> list[dict]:
    "The claims of the dev pairs of data/contrast."
    out = []
    for p in contrast_pairs("dev"):
        found = checked_claims(nfc(p["a"]), read_source((nfc(p["b"]),)))
        if p["label"] == "same" or len(found) == 1 or p["kind"].startswith("other"): out += [{"signs": f.signs, "bad": p["label"] != "same"} for f in found]
    return out

def boosted(seed:int):
    from sklearn.ensemble import GradientBoostingClassifier
    return GradientBoostingClassifier(n_estimators=300, max_depth=2, learning_rate=.06, subsample=.5, max_features=.3, min_samples_leaf=8, random_state=seed)

def row_of(tree) -> list[float]:
    "A tree of depth two as sign, threshold, left sign, threshold, right sign, threshold, four values."
    sign, cut, left, right, value = tree.feature, tree.threshold, tree.children_left, tree.children_right, tree.value[:, 0, 0]
    def side(i): return (0, 1e9, value[max(i, 0)], value[max(i, 0)]) if i < 0 or left[i] < 0 else (int(sign[i]), float(cut[i]), value[left[i]], value[right[i]])
    if left[0] < 0: return [0, 1e9, 0, 1e9, 0, 1e9, *[value[0]]*4]
    a, b = side(left[0]), side(right[0])
    return [int(sign[0]), float(cut[0]), a[0], a[1], b[0], b[1], a[2], a[3], b[2], b[3]]

def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0]); ap.add_argument("data", type=Path); ap.add_argument("--write", action="store_true")
    args = ap.parse_args()
    if not (args.data/"regs/needs.jsonl").is_file(): sys.exit(f"no regs/needs.jsonl in {args.data}")
    from sklearn.metrics import roc_auc_score
    rows, extra = regs_claims(args.data/"regs"), contrast_claims()
    names = sorted({k for r in rows for k in r["signs"]} - {"cited"})
    matrix = lambda rs: np.array([[r["signs"].get(k, 0.) for k in names] for r in rs])
    X, y, XC, yC = matrix(rows), np.array([not r["bad"] for r in rows]), matrix(extra), np.array([not r["bad"] for r in extra])
    needs = sorted({r["need"] for r in rows}); fold = np.array([needs.index(r["need"]) % FOLDS for r in rows])
    fit = lambda at, seed: boosted(seed).fit(np.vstack([X[at], XC]), np.r_[y[at], yC], np.r_[np.ones(at.sum()), np.full(len(yC), WEIGHT)])
    odds = np.zeros(len(y))
    for i in range(FOLDS): odds[fold == i] = np.mean([fit(fold != i, s).decision_function(X[fold == i]) for s in SEEDS], 0)
    worst: dict = {}
    for r, o in zip(rows, odds): key = (r["need"], r["kind"], r["answer"]); worst[key] = min(worst.get(key, 1e9), o)
    kinds, p = np.array([k[1] for k in worst]), 1/(1 + np.exp(-np.array(list(worst.values())))); true = np.isin(kinds, ["answer", "faithful"])
    auroc = roc_auc_score(true, p)
    print(f"cross-validated by need, {len(rows)} claims: AUROC of the worst claim {auroc:.3f}, balanced accuracy at {CUT} {((p[true] >= CUT).mean() + (p[~true] < CUT).mean())/2:.3f}")
    print("flagged: " + ", ".join(f"{k} {(p[kinds == k] < CUT).mean():.2f}" for k in dict.fromkeys(kinds)))
    if not args.write: return
    every, trees, bias = np.ones(len(y), bool), [], 0.
    for s in SEEDS:
        g = fit(every, s); bias += float(g._raw_predict_init(X[:1])[0, 0])/len(SEEDS)
        for e in g.estimators_[:, 0]: t = row_of(e.tree_); trees.append([round(v, 5) for v in t[:6]] + [round(v*.06/len(SEEDS), 5) for v in t[6:]])
    found = dict(load_config("faithfulness")); old = found["model"]["provenance"]
    found["model"] = {"provenance": {**old, "n_claims": len(y), "n_contrast_claims": len(yC), "odds_at_threshold": round(float(np.log(CUT/(1 - CUT))), 4),
                                     "cross_validated": f"regs dev, {FOLDS} folds by need: AUROC of the worst claim {auroc:.3f}"}, "names": names, "bias": round(bias, 5), "trees": trees}
    print(f"written: {save_config('faithfulness', found)}")

if __name__ == "__main__": main()

"""Fit the model that turns the signs of a claim into its score (data/config/faithfulness.json, `model`): half a logistic regression, half boosted trees.

usage: python benchmarks/faithfulness_fit.py DATA [--write] [--without style|SIGN ...]      DATA: a folder with regs/needs.jsonl and regs/corpus.jsonl

A second logistic regression over the signs of coverage (`about`) tells claims about something else (the answers to other needs) from true ones;
what it lets through is all that the first may support. Fitted on the claims of the reference answers, faithful paraphrases and answers with one false sentence of regs dev, on those of
data/hanbit train and dev at weight 0.06, on those of the labelled chatbot answers of data/chatbot (given passages of hanbit train and dev) at weight 0.08, and on the pairs of data/contrast dev at weight 0.15. Prints the figures cross-validated by need (what other needs may expect), with the rules that outweigh the model, of each collection; `--write` writes the model to
./data/config. `--without style` leaves out the signs that tell how an answer is written, not what it says (`STYLE`): in regs false sentences are shorter than true ones,
and what a model gains by that no other answers may give. `CUT`, the log odds at the default threshold, is near where the balanced accuracy is largest. Needs scikit-learn ([dense]).
"""
import argparse, json, random, re, sys
from datetime import date
from pathlib import Path

import numpy as np

from rag_quality.benchmark.data import load_benchmark
from rag_quality.semantic_eval.calibration import contrast_pairs
from rag_quality.benchmark.data import load_chatbot_answers, segment_at
from rag_quality.core import load_config, nfc, save_config
from rag_quality.metrics import auroc
from rag_quality.faithfulness.model import THRESHOLD, limits
from rag_quality.faithfulness.claims import checked_claims
from rag_quality.faithfulness.context import read_source

import kept

FOLDS, CUT, WEIGHT, HANBIT, CHATBOT, SEEDS, RATE, STRENGTH = 9, -.1, .15, .06, .08, (0, 1, 2, 3), .06, .2

def bounds(f, source) -> tuple[float, float]:
    "The least and the most log odds that the rules leave a claim, whatever the model says: what is measured is what is shipped."
    return tuple(CUT + float(np.log(p/(1-p) + 1e-9) - np.log(THRESHOLD/(1-THRESHOLD))) if p < 1 else 99. for p in limits(f))

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
                rows.append({"need": need["need"], "kind": kind, "answer": text, "signs": f.signs, "bounds": bounds(f, source), "bad": at >= 0 and c.start < at + len(nfc(span)) and c.end > at})
    return rows

def hanbit_claims() -> list[dict]:
    "The same of the bundled benchmark, its train and dev needs."
    rows = []
    for split in ("train", "dev"):
        bench = load_benchmark().split(split)
        for n in bench.answerable:
            source = read_source(tuple(map(nfc, bench.contexts(n))))
            for kind, text, span in [("answer", n.answer, None), ("faithful", n.paraphrase, None), *((x.kind, x.answer, x.span) for x in n.lies)]:
                if not text: continue
                if nfc(text) != text: sys.exit(f"{n.id}: a text that is not NFC; its spans would not hold")
                for f in checked_claims(text, source):
                    c = f.cited.claim; rows.append({"need": n.id, "kind": kind, "answer": text, "signs": f.signs, "bounds": bounds(f, source), "bad": span is not None and c.start < span[1] and c.end > span[0]})
    return rows

def chatbot_claims() -> list[dict]:
    "The claims of the labelled chatbot answers; bad is what is not wholly supported."
    rows = []
    for a in load_chatbot_answers():
        source = read_source(a.contexts)
        for f in checked_claims(a.text, source):
            if (s := segment_at(a, f.cited.claim.start)) and s.label in "SPUC": rows.append({"need": a.need, "kind": s.fault, "answer": a.id, "segment": s.start, "signs": f.signs, "bounds": bounds(f, source), "bad": s.label != "S"})
    return rows

ABOUT, SLACK = ("gcover", "cover", "pcover", "ucover", "verbatim", "weak", "c_cover", "noun_abs_max", "noun_abs_sum", "noun_loc_max", "noun_loc_sum", "formal_abs", "formal_loc",
                "len", "pred_loc", "pred_top", "rev_cover", "nq", "q_abs", "odd"), 3.     # its signs; how sure it must be

STYLE = ("len", "nq", "src_len", "rel_g", "rel_c", "rel_formal", "rev_cover", "drop_topic")     # how long a claim and its source are, how the claims of an answer differ, how much of the source the answer tells

def other_claims(folder:Path) -> list[dict]:
    "The claims of answers to other needs, without their citations: what the context says nothing about."
    corpus = {d["_id"]: nfc(f"{d['title']}\n{d['text']}") for d in map(json.loads, open(folder/"corpus.jsonl", encoding="utf8"))}
    needs = [json.loads(line) for line in open(folder/"needs.jsonl", encoding="utf8")]; rng, out = random.Random(0), []
    for need in needs:
        source = read_source(tuple(corpus[d] for d in need["relevant"] if d in corpus))
        strangers = [n for n in needs if n is not need and not set(n["relevant"]) & set(need["relevant"])]
        for kind in ("answer", "faithful"):
            other = rng.choice(strangers)
            out += [{"need": need["need"], "other": other["need"], "signs": f.signs} for f in checked_claims(re.sub(r"\s*\[[^\]]*\]", "", nfc(other[kind])), source)]
    return out

def contrast_claims() -> list[dict]:
    "The claims of the dev pairs of data/contrast."
    out = []
    for p in contrast_pairs("dev"):
        found = checked_claims(nfc(p["a"]), read_source((nfc(p["b"]),)))
        if p["label"] == "same" or len(found) == 1 or p["kind"].startswith("other"): out += [{"signs": f.signs, "bad": p["label"] != "same"} for f in found]
    return out

def boosted(seed:int):
    from sklearn.ensemble import GradientBoostingClassifier
    return GradientBoostingClassifier(n_estimators=300, max_depth=2, learning_rate=RATE, subsample=.5, max_features=.3, min_samples_leaf=8, random_state=seed)

def linear(X, y, w, strength=STRENGTH) -> tuple[np.ndarray, float]:
    "A logistic regression over the signs as they are: weights and bias."
    from sklearn.linear_model import LogisticRegression
    mean, std = X.mean(0), X.std(0); std[std == 0] = 1
    m = LogisticRegression(C=strength, max_iter=3000).fit((X - mean)/std, y, sample_weight=w)
    return m.coef_[0]/std, float(m.intercept_[0] - (m.coef_[0]*mean/std).sum())

def row_of(tree) -> list[float]:
    "A tree of depth two as sign, threshold, left sign, threshold, right sign, threshold, four values."
    sign, cut, left, right, value = tree.feature, tree.threshold, tree.children_left, tree.children_right, tree.value[:, 0, 0]
    def side(i): return (0, 1e9, value[max(i, 0)], value[max(i, 0)]) if i < 0 or left[i] < 0 else (int(sign[i]), float(cut[i]), value[left[i]], value[right[i]])
    if left[0] < 0: return [0, 1e9, 0, 1e9, 0, 1e9, *[value[0]]*4]
    a, b = side(left[0]), side(right[0])
    return [int(sign[0]), float(cut[0]), a[0], a[1], b[0], b[1], a[2], a[3], b[2], b[3]]

def report_segments(rows:list, odds:np.ndarray) -> float:
    "Segments of the chatbot answers by their worst claim, answers by their mean, and what is flagged of each fault."
    worst, answers, faults, cut = {}, {}, {}, 1/(1 + np.exp(-CUT))
    for r, o in zip(rows, odds):
        key = (r["answer"], r["segment"]); worst[key] = (min(worst.get(key, (9., 0))[0], 1/(1 + np.exp(-o))), not r["bad"]); faults.setdefault(r["kind"] or "supported", []).append(o < CUT)
    for (a, _), x in worst.items(): answers.setdefault(a, []).append(x)
    p, y = (np.array(v) for v in zip(*worst.values())); a, b, c, d = (np.array(v) for v in zip(*[(min(s for s, _ in v), np.mean([s for s, _ in v]), all(t for _, t in v), np.mean([t for _, t in v]) >= .5) for v in answers.values()]))
    print(f"chatbot, cross-validated by need: AUROC of segments {auroc(p, y):.3f} (n {len(y)}), balanced accuracy at {CUT} {((p[y] >= cut).mean() + (p[~y] < cut).mean())/2:.3f}; of answers (n {len(a)}): worst claim, all supported {auroc(a, c):.3f}; mean, all supported {auroc(b, c):.3f}; mean, at least half {auroc(b, d):.3f}")
    print("  flagged: " + ", ".join(f"{k} {np.mean(v):.2f} (n {len(v)})" for k, v in sorted(faults.items())))
    return auroc(p, y)

def dense(text:str) -> str: "JSON with each list of plain values on one line."; return re.sub(r"\[\s+([^\[\]{}]+?)\s+\]", lambda m: "[" + re.sub(r"\s*\n\s*", " ", m[1]) + "]", text)

def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0]); ap.add_argument("data", type=Path); ap.add_argument("--write", action="store_true"); ap.add_argument("--without", nargs="+", default=[], metavar="SIGN")
    args = ap.parse_args(); without = {s for w in args.without for s in (STYLE if w == "style" else [w])}
    if without and args.write: sys.exit("--write writes the model with all signs: leave --without away")
    if not (args.data/"regs/needs.jsonl").is_file(): sys.exit(f"no regs/needs.jsonl in {args.data}")
    rows, extra, other = [{**r, "of": "regs"} for r in regs_claims(args.data/"regs")] + [{**r, "of": "hanbit"} for r in hanbit_claims()] + [{**r, "of": "chatbot"} for r in chatbot_claims()], contrast_claims(), other_claims(args.data/"regs")
    names = sorted({k for r in rows for k in r["signs"]} - {"cited", "copied"})
    if unknown := without - set(names): sys.exit(f"no sign {', '.join(sorted(unknown))}; the signs: {' '.join(names)}")
    names = [n for n in names if n not in without]
    matrix = lambda rs: np.array([[r["signs"].get(k, 0.) for k in names] for r in rs])
    X, y, XC, yC = matrix(rows), np.array([not r["bad"] for r in rows]), matrix(extra), np.array([not r["bad"] for r in extra])
    weight, of_row = np.array([{"regs": 1., "hanbit": HANBIT, "chatbot": CHATBOT}[r["of"]] for r in rows]), np.array([r["of"] for r in rows]); regs = of_row == "regs"
    books = {"regs": "regs", "hanbit": "hanbit", "chatbot": "hanbit"}       # chatbot answers are about needs of hanbit: a need is in one fold, whoever writes of it
    needs = {b: sorted({r["need"] for r in rows if books[r["of"]] == b}) for b in ("regs", "hanbit")}; fold = np.array([needs[books[r["of"]]].index(r["need"]) % FOLDS for r in rows])
    XO, about, foldO = matrix(other), [names.index(k) for k in ABOUT if k in names], [np.array([needs["regs"].index(r[k]) % FOLDS for r in other]) for k in ("need", "other")]
    def gate(at, atO) -> tuple[np.ndarray, float]:
        true = at & y & regs; weights, bias = linear(np.vstack([X[true], XO[atO]])[:, about], np.r_[np.ones(true.sum()), np.zeros(atO.sum())], np.ones(true.sum() + atO.sum()), .1)
        full = np.zeros(len(names)); full[about] = weights; return full, bias + SLACK
    data = lambda at: (np.vstack([X[at], XC]), np.r_[y[at], yC], np.r_[weight[at], np.full(len(yC), WEIGHT)])
    odds, oddsO = np.zeros(len(y)), np.zeros(len(other))
    for i in range(FOLDS):
        at, test = fold != i, fold == i; weights, bias = linear(*data(at)); d = data(at)
        trees = [boosted(s).fit(*d) for s in SEEDS]; gw, gb = gate(at, (foldO[0] != i) & (foldO[1] != i)); held = foldO[0] == i
        for Z, where, out in ((X, test, odds), (XO, held, oddsO)):
            out[where] = np.minimum((Z[where] @ weights + bias)/2 + np.mean([t.decision_function(Z[where]) for t in trees], 0)/2, Z[where] @ gw + gb)
    odds = np.clip(odds, *np.array([r["bounds"] for r in rows]).T)
    print(f"claims about something else flagged: {(oddsO < CUT).mean():.2f} (n {len(other)})"); told = {}
    for of in ("regs", "hanbit"):
        worst: dict = {}
        for r, o in zip(rows, odds):
            if r["of"] == of: key = (r["need"], r["kind"], r["answer"]); worst[key] = min(worst.get(key, 1e9), o)
        kinds, p = np.array([k[1] for k in worst]), np.array(list(worst.values())); true = np.isin(kinds, ["answer", "faithful"]); told[of] = auroc(p, true)
        print(f"{of}, cross-validated by need, {(of_row == of).sum()} claims: AUROC of the worst claim {told[of]:.3f}, balanced accuracy at {CUT} {((p[true] >= CUT).mean() + (p[~true] < CUT).mean())/2:.3f}")
        print("  balanced accuracy by cut: " + ", ".join(f"{c:.1f} {((p[true] >= c).mean() + (p[~true] < c).mean())/2:.3f}" for c in np.arange(-.6, 1.3, .2)))
        print("  flagged: " + ", ".join(f"{k} {(p[kinds == k] < CUT).mean():.2f}" for k in dict.fromkeys(kinds)))
    told["chatbot"] = report_segments([r for r in rows if r["of"] == "chatbot"], odds[of_row == "chatbot"])
    if not args.write: return
    d = data(np.ones(len(y), bool)); weights, bias = linear(*d); weights, bias, trees = weights/2, bias/2, []
    for s in SEEDS:
        g = boosted(s).fit(*d); bias += float(g._raw_predict_init(X[:1])[0, 0])/len(SEEDS)/2
        for e in g.estimators_[:, 0]: t = row_of(e.tree_); trees.append([round(v, 4) for v in t[:6]] + [round(v*RATE/len(SEEDS)/2, 5) for v in t[6:]])
    gw, gb = gate(np.ones(len(y), bool), np.ones(len(other), bool))
    found = dict(load_config("faithfulness")); old = found["model"]["provenance"]
    found["model"] = {"provenance": {**old, "fitted_on": f"claims of reference answers, faithful paraphrases and planted faults: regs dev (81 needs), data/hanbit train and dev (153 needs) at weight {HANBIT}; data/chatbot (748 answers, 187 needs) at weight {CHATBOT}; data/contrast dev at weight {WEIGHT}", "date": str(date.today()), "note": "figures on regs dev, on hanbit train and dev and on data/chatbot with this model are in-sample; hanbit test, realrag and data/contrast test were not fitted on", "n_claims": len(y), "n_contrast_claims": len(yC), "n_other_claims": len(other), "hanbit_weight": HANBIT, "odds_at_threshold": CUT,
                                     "cross_validated": f"{FOLDS} folds by need: AUROC of the worst claim {told['regs']:.3f} (regs dev), {told['hanbit']:.3f} (hanbit train and dev), of segments {told['chatbot']:.3f} (data/chatbot)"}, "names": names, "bias": round(bias, 5), "linear": [round(float(v), 5) for v in weights],
                      "about": [round(float(v), 5) for v in gw], "about_bias": round(gb, 5), "trees": trees}
    found["model"]["provenance"]["method"] = f"half logistic regression (L2, C {STRENGTH}), half gradient boosting: depth 2, {len(SEEDS)} seeds x 300 trees, rate {RATE}, half of the rows and 0.3 of the signs a split, at least 8 rows a leaf"
    path = save_config("faithfulness", found)
    Path(path).write_text(dense(Path(path).read_text(encoding="utf8")), encoding="utf8"); print(f"written: {path}")

if __name__ == "__main__": kept.run(main, split="train, dev", seed=0)

"""Claims held against passages that are about something else: how many pass as supported, and what keeping them out costs the true ones.

usage: python benchmarks/elsewhere.py [--fit] [--write] [--slice] [--n N]

Each claim is judged against its own passages ('own'; its own among four of the nearest, 'own5', where it is true) and against passages of other books:
one by chance ('chance1'), five by chance ('chance5'), the five that share most pairs of letters with it ('near5'). Claims are those of data/claims
(passages of other statutes and rule books; a claim about a statute meets those of a university and the other way round) and the reference answers of
data/hanbit (passages of data/claims that are not hanbit's). Test halves, which nothing here was fitted on; `--fit` fits the two bounds "is it spoken of
at all?" on claims dev and hanbit dev: the rules' and that of the rules and the reader (data/config/faithfulness.json, `about`), each a
logistic regression cut where 1 % of the true claims that passed are lost; `--write` writes them to ./data/config. Needs scikit-learn ([dense]) for --fit.
A few claims are true elsewhere, too: the shares of 'near5' are at most what they say.
"""
import argparse
import json
import random
import re
import sys
import zlib
from datetime import date

import bm25s
import numpy as np

import kept
from rag_quality.benchmark.data import load_benchmark
from rag_quality.claims.reader import packaged_reader
from rag_quality.core import load_config, measuring_path, nfc, save_config
from rag_quality.faithfulness.claims import checked_claims
from rag_quality.faithfulness.context import read_source
from rag_quality.faithfulness.joint import about_features, about_odds, joint_score, read_claims
from rag_quality.faithfulness.model import THRESHOLD, _scores_of, _verdict, joint_limits, limits

SETS = ("own", "own5", "chance1", "chance5", "near5")
LOST = .01               # of the true claims that pass, the share that a bound may cost where it is fitted
STRENGTH = .1


def rows(path):
    return [json.loads(line) for line in path.read_text(encoding="utf8").splitlines() if line.strip()]


def pairs_of(text):
    flat = re.sub(r"\s", "", text)
    return [flat[i:i + 2] for i in range(len(flat) - 1)]


class Elsewhere:
    "The passages of data/claims, and those of them that are far from a passage."
    def __init__(self):
        self.text = {p["_id"]: f"{p['title']}\n{p['text']}" for p in rows(measuring_path("claims")/"passages.jsonl")}
        self.book = {p["_id"]: p["title"].split(" 제")[0] for p in rows(measuring_path("claims")/"passages.jsonl")}
        self.ids = list(self.text)
        self.index = bm25s.BM25()
        self.index.index([pairs_of(t) for t in self.text.values()], show_progress=False)

    def kind(self, i):
        return re.split("[:-]", i)[0]

    def far(self, own):
        "The passages of other kinds of book; of other books where a passage is of neither a statute nor hanbit."
        if self.kind(own) in ("law", "HB"):
            return [i for i in self.ids if self.kind(i) != self.kind(own)]
        return [i for i in self.ids if self.book[i] != self.book[own]]

    def near(self, said, among):
        "Passages, those first that share most with what is said."
        among, scores = set(among), self.index.get_scores(pairs_of(said))
        return [self.ids[j] for j in np.argsort(-scores, kind="stable") if self.ids[j] in among]


def of_claims(place, split, n, rng):
    "(set, label, who, claim, passages) of claims of data/claims."
    for c in rng.sample(found := rows(measuring_path("claims")/f"{split}.jsonl"), min(n, len(found))):
        own, far = c["passage"], place.far(c["passage"])
        others = [i for i in place.near(c["claim"], place.ids) if i != own][:4]
        sets = {"own": [own], "chance1": rng.sample(far, 1), "chance5": rng.sample(far, 5), "near5": place.near(c["claim"], far)[:5]}
        if c["label"] == "supported":
            sets["own5"] = rng.sample([own, *others], 5)
        for name, ids in sets.items():
            yield name, c["label"], own, nfc(c["claim"]), tuple(nfc(place.text[i]) for i in ids)


def of_hanbit(place, split, n, rng):
    "The same of the reference answers and paraphrases of hanbit."
    bench = load_benchmark().split(split)
    far = [i for i in place.ids if place.kind(i) != "HB"]
    for need in rng.sample(found := list(bench.answerable), min(n, len(found))):
        own = tuple(map(nfc, bench.contexts(need)))
        for said in filter(None, (need.answer, need.paraphrase)):
            yield "own", "supported", need.id, nfc(said), own
            for name, ids in (("chance5", rng.sample(far, 5)), ("near5", place.near(said, far)[:5])):
                yield name, "supported", need.id, nfc(said), tuple(nfc(place.text[i]) for i in ids)


def judged(items, reader, bounded):
    "A row a claim: what the bounds are fitted on, and what the rules say; the bounds of today where they are `bounded` (before a fit there may be none)."
    out = []
    for name, label, who, said, texts in items:
        S = read_source(texts)
        if not (found := checked_claims(said, S)):
            continue
        said, signs = read_claims(found, S, reader), [f.signs for f in found]
        today = (about_odds(signs, None, THRESHOLD), about_odds(signs, said, THRESHOLD)) if bounded else ([np.inf]*len(found),)*2
        bounds = zip(*today)
        for f, score, r, (alone, read) in zip(found, _scores_of(found), said, bounds):
            low, high = joint_limits(f, _verdict(f, score, S), r)
            out.append({"set": name, "label": label, "who": who, "rules": score, "said": r, "low": low, "high": high,
                        "about": about_features(f.signs, r), "alone": alone, "read": read, "limits": limits(f)})
    return out


def told(rows, scores, name):
    "The share of claims that pass, by set and label."
    out = {}
    for s in SETS:
        for label in ("supported", "contradicted", "not_in"):
            at = np.array([r["set"] == s and r["label"] == label for r in rows])
            if at.any():
                out[f"{s} {label}"] = [round(float((scores[at] >= THRESHOLD).mean()), 4), int(at.sum())]
    print(f"  {name}: " + ", ".join(f"{k} {v:.3f}" for k, (v, _) in out.items()))
    return out


def by_rules(rows, bounded=True):
    "The score of each claim by the rules alone; without the bound where not `bounded`."
    return np.array([min(max(min(r["rules"], 1/(1 + np.exp(-r["alone"]))), r["limits"][0]), r["limits"][1]) if bounded
                     else r["rules"] for r in rows])


def both(rows, bounded=True):
    "The same by rules and reader."
    return np.array([min(max(joint_score(r["rules"], r["said"], r["read"] if bounded else None), r["low"]), r["high"]) for r in rows])


def bound(groups, features, passed):
    "A logistic regression, every group and side weighing the same, cut so that LOST of the true claims that pass are lost: weights of `features`, bias first."
    from sklearn.linear_model import LogisticRegression
    X = np.vstack([features(r) for g in groups for r in g])
    true = np.array([r["set"] in ("own", "own5") and r["label"] == "supported" for g in groups for r in g])
    other = np.array([r["set"] not in ("own", "own5") for g in groups for r in g])
    of = np.concatenate([np.full(len(g), i) for i, g in enumerate(groups)])
    who = np.array([zlib.crc32(r["who"].encode()) % 5 for g in groups for r in g])
    mean, std = X[true | other].mean(0), X[true | other].std(0) + 1e-9
    Z = (X - mean)/std
    def fit(at):
        w = np.zeros(len(X))
        for i in range(len(groups)):
            for side in (true, other):
                w[k] = 1/(k := at & (of == i) & side).sum()
        use = at & (true | other)
        return LogisticRegression(C=STRENGTH, max_iter=3000).fit(Z[use], true[use], sample_weight=w[use]*use.sum())
    held = np.zeros(len(X))
    for i in range(5):
        held[who == i] = fit(who != i).decision_function(Z[who == i])
    passing = np.concatenate([passed(g) >= THRESHOLD for g in groups]) & true
    cut = float(np.mean([np.quantile(held[passing & (of == i)], LOST) for i in range(len(groups))]))
    m = fit(np.ones(len(X), bool))
    weights = m.coef_[0]/std
    return np.r_[m.intercept_[0] - (weights*mean).sum() - cut, weights], int(len(X))


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--fit", action="store_true")
    ap.add_argument("--write", action="store_true")
    ap.add_argument("--slice", action="store_true")
    ap.add_argument("--n", type=int, default=400, help="claims of data/claims; a sixth of it are needs of hanbit")
    args = ap.parse_args()
    reader = packaged_reader()
    if reader is None:
        sys.exit("읽는 모델이 없습니다: pip install ./reader")
    place, rng, out = Elsewhere(), random.Random(7), {}
    split, n = "dev" if args.fit else "test", 12 if args.slice else args.n
    groups = {"claims": judged(of_claims(place, split, n, rng), reader, not args.fit),
              "hanbit": judged(of_hanbit(place, split, max(3, n//6), rng), reader, not args.fit)}
    for name, found in groups.items():
        print(f"{name} {split}, {len(found)} judgments")
        out[name] = {
            "rules before": told(found, by_rules(found, False), "rules, not asked whether it is spoken of"), "rules": told(found, by_rules(found), "rules"),
            "both before": told(found, both(found, False), "rules and reader, not asked"), "both": told(found, both(found), "rules and reader")}
    kept.note(n=sum(map(len, groups.values())), elsewhere=out)
    if args.fit:
        config, at = load_config("faithfulness"), float(np.log(THRESHOLD/(1 - THRESHOLD)))
        note = {"fitted_on": "data/claims dev and the reference answers of data/hanbit dev against their own passages and those of other books (benchmarks/elsewhere.py --fit)",
                "lost": LOST, "date": date.today().isoformat(), "reader": reader.about.get("version", "")}
        alone, n = bound(groups.values(), lambda r: r["about"][4:], lambda g: by_rules(g, False))
        read, n = bound(groups.values(), lambda r: r["about"][1:], lambda g: both(g, False))
        alone[0], read[0] = alone[0] + at, read[0] + at
        config["about"] = {"rules": [round(float(w), 5) for w in alone], "reader": [round(float(w), 5) for w in read],
                           "provenance": {**note, "n_claims": n}}
        print("rules", alone.round(2), "reader", read.round(2))
        if args.write:
            path = save_config("faithfulness", config)
            with open(path, "w", encoding="utf8") as f:
                f.write(json.dumps(config, ensure_ascii=False, separators=(",", ":")) + "\n")
    return 0


if __name__ == "__main__":
    kept.run(main, split="test", seed=7)

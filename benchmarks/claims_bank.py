"""What the bank of claims holds and how clean it is: python benchmarks/claims_bank.py

Counts by split and label; agreement of the judges with each other and with the writers (Cohen's kappa); how much the claim alone gives away
(naive Bayes over its morphemes and endings, learnt on train, AUROC on test: .5 is nothing); the form of every row. The same of data/entailment,
which only teaches: told by the claim alone with two of its writers learnt from the others.
"""
import json
import math
from collections import Counter, defaultdict
from pathlib import Path

from rag_quality.korean import analyze
from rag_quality.metrics import auroc

import kept

BANK = Path(__file__).resolve().parent.parent/"data"/"claims"
TAUGHT = BANK.parent/"entailment"
SPLITS = ("train", "dev", "test")


def rows(name, bank=BANK):
    return [json.loads(line) for line in (bank/f"{name}.jsonl").read_text(encoding="utf8").splitlines()]


def kappa(table):
    "Cohen's kappa of a table of counts."
    n = sum(map(sum, table))
    same = sum(table[i][i] for i in range(len(table)))/n
    chance = sum(sum(table[i])*sum(r[i] for r in table) for i in range(len(table)))/n**2
    return (same - chance)/(1 - chance)


def form(claim):
    "What a claim says of itself: morphemes with their tags, its length, whether digits stand in it."
    return {f"{t.form}/{t.tag}" for t in analyze(claim)} | {f"length {len(claim)//8}", f"digits {any(c.isdigit() for c in claim)}"}


def told_by_form(train, test, positive, against):
    "AUROC of naive Bayes that never saw a passage."
    counts, totals = {True: Counter(), False: Counter()}, Counter()
    for r in train:
        if r["label"] in (positive, against):
            counts[r["label"] == positive].update(form(r["claim"]))
            totals[r["label"] == positive] += 1
    def odds(claim):
        return sum(math.log((counts[True][f] + 1)/(totals[True] + 2)) - math.log((counts[False][f] + 1)/(totals[False] + 2))
                   for f in form(claim) if counts[True][f] + counts[False][f] > 4)
    asked = [r for r in test if r["label"] in (positive, against)]
    return auroc([odds(r["claim"]) for r in asked], [r["label"] == positive for r in asked])


def faults(passages, split):
    "What is wrong with the rows of a split."
    squeeze = lambda t: "".join(t.split())
    for r in rows(split):
        p = passages.get(r["passage"])
        if p is None or p["split"] != split:
            yield f"{r['_id']}: passage {r['passage']} is not of {split}"
        elif r["label"] != "not_in" and not all(squeeze(e) in squeeze(p["title"] + p["text"]) for e in r["evidence"]):
            yield f"{r['_id']}: evidence that is not in the passage"
        elif not all(squeeze(w) in squeeze(r["claim"]) for w in (r["wrong"] if r["label"] == "contradicted" else ())):
            yield f"{r['_id']}: wrong words that are not in the claim"


def taught():
    "Prints what data/entailment holds; the faults of its form."
    articles, told, out = {a["id"]: a["text"] for a in rows("articles", TAUGHT)}, json.loads((TAUGHT/"judgings.json").read_text(encoding="utf8")), []
    for name, held_out in (("everyday", ("E3", "E5")), ("statutes", ("S2", "S6"))):
        found = [{**r, "label": r["y"], "claim": r["c"]} for r in rows(name, TAUGHT)]
        print(f"entailment, {name}: {len(found)} pairs;", ", ".join(f"{k} {v}" for k, v in Counter(r["y"] for r in found).most_common()),
              f"; kappa of writer and judge {kappa(told[name]):.3f} (n {sum(map(sum, told[name]))})")
        train, test = [r for r in found if r["writer"] not in held_out], [r for r in found if r["writer"] in held_out]
        for against in ("contradiction", "neutral"):
            print(f"told by the claim alone, entailment against {against}: AUROC {told_by_form(train, test, 'entailment', against):.3f}")
        for r in found:
            text = r.get("p") or articles[r["id"]]
            if r.get("w", "") not in r["c"] or r.get("e", "") not in text:
                out.append(f"{name}: words that are not there: {r['c']}")
    return out


def main():
    passages = {p["_id"]: p for p in rows("passages")}
    held = {s: rows(s) for s in SPLITS}
    for s in SPLITS:
        labels = Counter(r["label"] for r in held[s])
        print(f"{s}: {len(held[s])} claims over {len({r['passage'] for r in held[s]})} passages;", ", ".join(f"{k} {v}" for k, v in labels.most_common()))
    every = [r for s in SPLITS for r in held[s]]
    print("judged twice", sum(r["judged"] == 2 for r in every), "once", sum(r["judged"] == 1 for r in every), "not", sum(r["judged"] == 0 for r in every))
    told = json.loads((BANK/"judgings.json").read_text(encoding="utf8"))
    print(f"kappa of two judges {kappa(told['judges']):.3f} (n {sum(map(sum, told['judges']))}); of writer and judge {kappa(told['author_judge']):.3f} (n {sum(map(sum, told['author_judge']))}); dropped {sum(told['dropped'].values())}")
    for against in ("contradicted", "not_in"):
        print(f"told by the claim alone, supported against {against}: AUROC {told_by_form(held['train'], held['test'], 'supported', against):.3f}")
    kinds = defaultdict(Counter)
    for r in every:
        kinds[r["label"]][r["kind"] or r["style"]] += 1
    for label in ("contradicted", "not_in"):
        print(f"{label}:", ", ".join(f"{k} {v}" for k, v in kinds[label].most_common()))
    bad = [f for s in SPLITS for f in faults(passages, s)] + taught()
    print(f"faults of form {len(bad)}", *bad[:5], sep="\n" if bad else " ")
    kept.note(n=len(every))
    return 1 if bad else 0


if __name__ == "__main__":
    kept.run(main, split="train, dev, test")

"""Every rule that outweighs the validator's model, on claims that its author did not read: fired, right, decisive.

usage: python benchmarks/rules.py [--slice] [--show RULE]
The bank of claims (data/claims, train and dev; test stays unread) was written after the rules, by others; a claim is checked against its own
passage. Right: the claim is not supported. Decisive: without the rule the model would have let it pass. A rule stays with a precision of .9 and
five decisive catches. Who mends a rule looks at that bank: so each is counted once more on what nobody looks at, the test half of the bank and the
answers of hanbit dev and test (whole answers, true and with a fault planted); decisive there: without the rule the whole validator would have passed
the answer. Two rules that had 31 of 33 and 14 of 15 on the bank had 17 of 22 and 4 of 6 there, and went. `--slice`: every twelfth claim; `--show`: the claims on which a rule fires wrongly.
"""
import argparse
import json
import math
import sys
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np

from rag_quality.faithfulness import claims as rooms
from rag_quality.faithfulness import FaithfulnessValidator
from rag_quality.faithfulness import model as heart
from rag_quality.faithfulness.context import context_texts, hide_orders, read_source

import kept
import phase_faithfulness

BANK = Path(__file__).resolve().parent.parent/"data"/"claims"
LEAST, DECISIVE = .9, 5      # precision and decisive catches that a rule needs


def rows():
    "Claims of train and dev with their passage, as (passage, claims)."
    passages = {}
    for line in (BANK/"passages.jsonl").read_text(encoding="utf8").splitlines():
        p = json.loads(line)
        passages[p["_id"]] = p
    found = defaultdict(list)
    for split in ("train", "dev"):
        for line in (BANK/f"{split}.jsonl").read_text(encoding="utf8").splitlines():
            r = json.loads(line)
            found[r["passage"]].append(r)
    return [(passages[k], v) for k, v in found.items()]


def fired(f, source):
    "The names of the rules that fire on one claim as the validator looked at it."
    out, signs = set(), f.signs
    where = rooms.cite_signs(f.cited, source)[1]
    near = {n[1] for n in f.at.near}
    for name, (_, of) in (rooms.SOURCE_RULES | rooms.RULES).items():
        if of(f.cited, f.at, source, where, near):
            out.add(name)
    if f.rule and f.rule[1] == "삭제된 조문이 아닙니다":
        out.add("not_deleted")
    bracketed = any(b for _, b in f.cited.cites)
    return out | {name for name, there in {
        "contact": f.contacts, "cite_abs": signs["cite_abs"] and bracketed, "cite_gap": signs["cite_gap"] > heart.SURE and bracketed}.items() if there}


def alone(found):
    "The model's own score of each claim, no rule beside it."
    m = heart._shipped()
    shift = math.log(heart.THRESHOLD/(1 - heart.THRESHOLD)) - float(m.provenance.get("odds_at_threshold", 0.))
    z = m.odds([[f.signs.get(k, 0.) for k in m.names] for f in found]) + shift
    return 1/(1 + np.exp(-np.clip(z, -30, 30)))


def forget():
    "Empty what the validator remembers of earlier answers."
    for module in [m for name, m in sys.modules.items() if name.startswith("rag_quality.faithfulness")]:
        for kept_result in [f for f in vars(module).values() if hasattr(f, "cache_clear") and f.__module__ == module.__name__ and f.__name__ not in ("_shipped", "_reader")]:
            kept_result.cache_clear()


def unread(step):
    "rule -> fired, right, decisive, caught, on answers that nobody looked at while making a rule."
    validator, counts, n = FaithfulnessValidator(), defaultdict(Counter), 0
    for _, _, kind, _, text, passages in [*phase_faithfulness.bank("test", step), *phase_faithfulness.hanbit(("dev", "test"), step)]:
        n += 1
        source = read_source(context_texts([hide_orders(t, f"context:{i}")[0] for i, t in enumerate(passages)]))
        found = rooms.checked_claims(hide_orders(text, "answer")[0], source)
        for name in set().union(*(fired(f, f.source or source) for f in found if not f.signs["copied"])) & set(rooms.RULES):
            rule = rooms.RULES.pop(name)
            forget()
            without = validator.validate_answer(text, list(passages)).ungrounded_claims
            rooms.RULES[name] = rule
            forget()
            decisive = bool(validator.validate_answer(text, list(passages)).ungrounded_claims) and not without
            counts[name].update(["fired", *["right"]*bool(kind), *["decisive"]*decisive, *["caught"]*(decisive and bool(kind))])
    return counts, n


def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("--slice", action="store_true")
    ap.add_argument("--show")
    args = ap.parse_args()
    counts, n, copied = defaultdict(Counter), 0, Counter()
    for passage, claims in rows():
        source = read_source(context_texts([hide_orders(f"{passage['title']}\n{passage['text']}", "context:0")[0]]))
        for r in claims[::12] if args.slice else claims:
            found = rooms.checked_claims(hide_orders(r["claim"], "answer")[0], source)
            if not found:
                continue
            n += 1
            wrong = r["label"] != "supported"
            scores = alone(found)
            for name in set().union(*(fired(f, source) for f in found)):
                passed = bool(min(scores) >= heart.THRESHOLD)
                counts[name].update(["fired", *["right"]*wrong, *["against"]*(r["label"] == "contradicted"), *["decisive"]*passed, *["caught"]*(passed and wrong)])
                if args.show == name and not wrong:
                    print(r["_id"], passage["_id"], r["claim"], "|", [f.rule for f in found])
            copied.update(["fired", *["right"]*(not wrong)] if any(f.signs["copied"] for f in found) else [])
    strange, m = unread(12 if args.slice else 1)
    kept.note(unread={k: {"걸림": c["fired"], "맞음": c["right"], "없으면 지나침": c["decisive"], "그 가운데 맞음": c["caught"]} for k, c in sorted(strange.items())})
    kept.note(n=n, split="train, dev", seed=0, modules=["rag_quality.faithfulness.claims", "rag_quality.faithfulness.model"],
              rules={k: {"걸림": c["fired"], "맞음": c["right"], "정밀도": round(c["right"]/c["fired"], 3), "모델은 지나침": c["decisive"], "그 가운데 맞음": c["caught"]}
                     for k, c in sorted(counts.items())})
    print(f"{n} claims")
    print(f"{'rule':16} {'fired':>6} {'right':>6} {'precision':>9} {'contradicted':>12} {'decisive':>8} {'of them right':>13}  stays")
    for name in sorted(counts):
        c = counts[name]
        stays = c["right"] >= LEAST*c["fired"] and c["caught"] >= DECISIVE and c["caught"] >= LEAST*c["decisive"]
        print(f"{name:16} {c['fired']:6} {c['right']:6} {c['right']/c['fired']:9.2f} {c['against']:12} {c['decisive']:8} {c['caught']:13}  {'yes' if stays else 'no'}")
    print(f"{m} answers that nobody looked at: fired, right, decisive, of them right")
    for name, c in sorted(strange.items()):
        print(f"  {name:16} {c['fired']:6} {c['right']:6} {c['decisive']:8} {c['caught']:6}")
    print(f"{'copied':16} {copied['fired']:6} {copied['right']:6} {copied['right']/max(copied['fired'], 1):9.2f}   (raises a score: right is supported)")


if __name__ == "__main__":
    kept.run(main)

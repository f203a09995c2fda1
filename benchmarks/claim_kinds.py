"""Claims whose every word and figure stands in the passage, but of something else: how many true ones pass, how many false ones are caught, by kind?

usage: python benchmarks/claim_kinds.py [--slice]
benchmarks/claim_kinds: two sets of 132 pairs (passage, claim), eleven kinds, six true and six false of each, written by two language models that had
seen nothing of this project: bands of values, sentences that differ in one word, all or one, the order of two acts, fees, a cited 항, the day that a time is counted from, leave
('없이는 …할 수 없다'), who, before and after, lengths ('1년 6개월'). The set `seen` was looked at while the rules of faithfulness.twins and
faithfulness.ranges were written (before them 50 of its 66 true claims passed and 25 of the 66 false ones were caught); the pairs of `unseen` were read by
nobody who wrote rules (before: 49 and 25). Its counts were seen after the rules were written (53 and 41) and again each time one was narrowed or taken out for what it did on other
sets. Two further sets: `cases_seen` (252 pairs by two writers; one half was looked at while faithfulness.cases, reckoned and compared were written, 38 of its 63 true claims
passed and 28 of 63 false ones were caught before; the other half only after a first count, 43 and 28 with the rules as they then were, 42 and 24 before) and `cases_unseen` (84 pairs
by a third, read by nobody who wrote rules; 27 of 42 and 18 of 42 before, and its counts were seen twice while rules were narrowed for true claims that a reviewer had
found flagged): a rate or a price applied to an amount, a date reckoned, a value inside a limit, who pays or approves in which case, values compared and added, several sentences,
English words.
Caught: a claim of the pair is not supported. `--slice`: every sixth pair.
"""
import argparse
import json
from collections import defaultdict
from pathlib import Path

from rag_quality.faithfulness import FaithfulnessValidator

import kept

HERE = Path(__file__).parent/"claim_kinds"


def counted(rows):
    "{kind: figures} and their sum."
    validator, kinds = FaithfulnessValidator(), defaultdict(lambda: [0, 0, 0, 0])
    for r in rows:
        result = validator.validate_answer(r["claim"], [r["passage"]])
        passed = bool(result.claims) and all(c.verdict == "supported" for c in result.claims)
        true = r["label"] == "true"
        for k in (r["kind"], "모두"):
            kinds[k][0 if true else 2] += 1
            kinds[k][1 if true else 3] += passed if true else not passed
    return {k: {"참": n[0], "통과한 참": n[1], "거짓": n[2], "걸린 거짓": n[3]} for k, n in sorted(kinds.items())}


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--slice", action="store_true")
    args = ap.parse_args()
    tables, n = {}, 0
    for name in ("seen", "unseen", "cases_seen", "cases_unseen"):
        rows = [json.loads(line) for line in (HERE/f"{name}.jsonl").read_text(encoding="utf8").splitlines()][::6 if args.slice else 1]
        tables[name], n = counted(rows), n + len(rows)
        for kind, v in tables[name].items():
            print(f"{name}, {kind}: true passed {v['통과한 참']} of {v['참']}, false caught {v['걸린 거짓']} of {v['거짓']}")
    kept.note(n=n, **tables)


if __name__ == "__main__":
    kept.run(main, modules=["rag_quality.faithfulness"])

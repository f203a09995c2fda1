"""Does the judge by rules tell an answer that is true but beside the question? python benchmarks/judge_beside.py [--slice]

Hanbit test, every fourth need: its answer, and the reworded answer of another need that rests on the same article (else of its family), each
beside the need's own reworded answer as reference. Right: the first is not called beside, the second is. Before: none was called so.
`BESIDE` was chosen on dev; test was not looked at. `--slice`: every fortieth need.
"""
import argparse
import json
from pathlib import Path

from rag_quality.judge.rules import beside_reference, judge_by_rules
from rag_quality.judge.verdicts import JudgeItem

import kept

NEEDS = Path(__file__).resolve().parent.parent/"data/hanbit/needs.jsonl"


def needs():
    rows = [json.loads(line) for line in NEEDS.read_text(encoding="utf8").splitlines() if line.strip()]
    return [n for n in rows if n["split"] == "test" and n.get("paraphrase")]


def other(n, every):
    "Another need of the same article, else of the same family; None where there is none."
    rest = [m for m in every if m["need"] != n["need"] and m["formal"] != n["formal"]]
    return next((m for m in rest if set(m["relevant"]) & set(n["relevant"])), None) or next(
        (m for m in rest if m["family"] == n["family"]), None)


def called(n, answer):
    item = JudgeItem(n["formal"], answer, (), n["paraphrase"])
    return bool(beside_reference(item, judge_by_rules(item)))


def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("--slice", action="store_true", help="every fortieth need")
    every = needs()
    some = [(n, m) for n in every[::40 if ap.parse_args().slice else 4] if (m := other(n, every))]
    right = [called(n, n["answer"]) for n, _ in some]
    beside = [called(n, m["paraphrase"]) for n, m in some]
    print(f"바른 답을 딴 이야기라 함: {sum(right)}/{len(right)}")
    print(f"딴 답을 딴 이야기라 함: {sum(beside)}/{len(beside)}")
    kept.note(n=len(right) + len(beside))


if __name__ == "__main__":
    kept.run(main, split="test", seed=0)

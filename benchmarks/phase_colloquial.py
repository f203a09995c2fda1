"""What rewriting colloquial questions (phase 1) and expanding forms (phase 2) buys on hanbit test: python benchmarks/phase_colloquial.py [--slice]

At its place in the ladder, and as what is lost where it alone is taken out of the default pipeline. Wordings of one need are one unit.
`--slice`: every eighth need.
"""
import argparse

from rag_quality.data import Collection, bundled
from rag_quality.experiment import pipeline, run_experiment
from rag_quality.experiment.steps import System

import changes
import kept


def part(slice_):
    hanbit = bundled()
    test = hanbit.split("test")
    if not slice_:
        return test
    needs = set(list(dict.fromkeys(q.metadata["pair"] for q in test.queries))[::8])
    asked = [q for q in test.queries if q.metadata["pair"] in needs]
    return Collection("hanbit", hanbit.passages, asked, {q.query_id: test.qrels.get(q.query_id, {}) for q in asked})


def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("--slice", action="store_true", help="every eighth need")
    test = part(ap.parse_args().slice)
    ladder = {s.name: s for s in pipeline(test)}
    full = ladder["+ regulation"]
    rewrite, *_ = ladder["+ morphology"].steps
    without = System("기본 구성에서 뺌", [s for s in full.steps if s is not rewrite and s.name != rewrite.name], full.passages)
    systems = [ladder["+ stop morphemes"], ladder["+ colloquial"], ladder["+ morphology"], without, full]
    found = run_experiment(test, systems, by="register", measures=("nDCG@10", "R@10"))
    tables = {
        "colloquial": changes.table(changes.steps(found, [("사다리에서", "+ stop morphemes", "+ colloquial"), ("기본 구성에서", "기본 구성에서 뺌", "+ regulation")])),
        "morphology": changes.table(changes.steps(found, [("", "+ colloquial", "+ morphology")], ("nDCG@10", "R@10"))),
    }
    for name, rows in tables.items():
        print(name)
        changes.show(rows)
    kept.note(n=len(test.queries), **tables)


if __name__ == "__main__":
    kept.run(main, split="test")

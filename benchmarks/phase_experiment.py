"""The ladder as steps, each against the system that it adds to (hanbit test): python benchmarks/phase_experiment.py [--slice]

From whitespace BM25 to the default pipeline: paired difference, BCa interval, permutation p (Holm over the table), MDE; wordings of one need
are one unit. Further: articles divided into pieces of 300 characters against whole ones (dev, BM25 over morphemes), and which colloquial
questions the default pipeline finds nothing for among ten, by the kind of question.
`--slice`: every eighth need; nothing is divided.
"""
import argparse

from rag_quality.core import bundle_path
from rag_quality.data import bundled, load_collection
from rag_quality.experiment import pipeline, run_experiment

import changes
import kept
from phase_colloquial import part

MEASURE = "nDCG@10"


def divided():
    "BM25 over morphemes on dev: whole articles against their pieces, whose scores count for the article."
    hanbit = bundled()
    found = []
    for collection in (hanbit, load_collection(bundle_path("hanbit"), max_chars=300)):
        system = pipeline(collection)[3]
        row = run_experiment(collection, [system], split="dev", measures=MEASURE).row(system.name)
        found.append((len(collection.passages), row.scores))
    (n, before), (m, after) = found
    units = before.units
    c = changes.compare(before, after, MEASURE)
    print(f"{n} -> {m} passages, {len(set(units.values()))} needs")
    return changes.table([(f"조 {n:,}건을 조각 {m:,}건으로", before.per_query[MEASURE], after.per_query[MEASURE], c)])


def missed(test, found, last):
    "Of the colloquial questions of each kind, the share that finds no judged article among ten."
    recall = found.row(last, "colloquial").scores.per_query["R@10"]
    kinds = {}
    for q in test.judged:
        if q.query_id in recall:
            kinds.setdefault(q.metadata.get("query_type") or "적히지 않음", []).append(recall[q.query_id] == 0)
    every = [x for v in kinds.values() for x in v]
    rows = {"모두": every, **dict(sorted(kinds.items(), key=lambda kv: -len(kv[1])))}
    return {k: {"하나도 찾지 못함": sum(v)/len(v), "n": len(v)} for k, v in rows.items()}


def cases(test, found, last, most=6):
    "Some of these questions, by id: the passage that came first, and the best judged one."
    recall = found.row(last, "colloquial").scores.per_query["R@10"]
    out = {}
    for q in [q for q, r in sorted(recall.items()) if r == 0][:most]:
        run = found.runs[last].get(q, {})
        out[q] = {"처음 나온 것": max(run, key=run.get) if run else None, "정답": max(test.qrels[q], key=test.qrels[q].get)}
    return out


def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("--slice", action="store_true", help="every eighth need")
    small = ap.parse_args().slice
    test = part(small)
    systems = pipeline(test)
    first, last = systems[0].name, systems[-1].name
    found = run_experiment(test, systems, by="register", measures=(MEASURE, "R@10"))
    pairs = [(after, found.adds_to[after], after) for after in (s.name for s in systems[1:])]
    tables = {"steps": changes.table(changes.steps(found, [*pairs, ("처음부터 끝까지", first, last)]))}
    if not small:
        tables["divided"] = divided()
    for name, rows in tables.items():
        print(name)
        changes.show(rows)
    wrong = missed(test, found, last)
    print(wrong)
    kept.note(n=len(test.queries), missed=wrong, cases=cases(test, found, last), **tables)


if __name__ == "__main__":
    kept.run(main, split="test")

"""What each step of the default pipeline buys on hanbit test, by register: python benchmarks/ladder.py [--slice]

Same queries, wordings of one need as one unit: BCa intervals, paired permutation test, Holm over the table, minimum detectable effect.
`--slice`: every eighth need.
"""
import argparse

from rag_quality.data import Collection, bundled
from rag_quality.experiment import pipeline, run_experiment
from rag_quality.report import text_table

import kept

KOREAN = {"colloquial": "구어", "formal": "문어"}
MEASURES = ("nDCG@10", "R@10")


def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("--slice", action="store_true", help="every eighth need")
    args = ap.parse_args()
    hanbit = bundled()
    test = hanbit.split("test")
    if args.slice:
        needs = set(list(dict.fromkeys(q.metadata["pair"] for q in test.queries))[::8])
        asked = [q for q in test.queries if q.metadata["pair"] in needs]
        test = Collection("hanbit", hanbit.passages, asked, {q.query_id: test.qrels.get(q.query_id, {}) for q in asked})
    found = run_experiment(test, pipeline(test), by="register", measures=MEASURES)
    print(text_table(found))
    table, first = {}, found.rows[0].system
    for row in found.rows:
        if row.slice not in KOREAN:
            continue
        figures = {m: [row.intervals[m].mean, row.intervals[m].low, row.intervals[m].high] for m in MEASURES}
        gain = found.versus(first, row.system, "nDCG@10", row.slice) if row.system != first else None
        step = found.versus(found.adds_to[row.system], row.system, "nDCG@10", row.slice) if row.system != first else None
        table.setdefault(KOREAN[row.slice], {})[row.system] = {
            **figures, "n": row.intervals["nDCG@10"].n_scored, "needs": row.intervals["nDCG@10"].n_units,
            **({"step": step.difference, "p": step.p_holm, "MDE": gain.mde} if gain else {})}
    kept.note(n=len(test.queries), ladder=table)


if __name__ == "__main__":
    kept.run(main, split="test")

"""Before and after of a phase, in one form for its page: paired difference, BCa interval, permutation p (Holm over the table), MDE, n.

Used by the `phase_*.py` scripts; the rows are drawn by `rag_quality.report.results.plot_changes`.
"""
from dataclasses import replace

from rag_quality.metrics import Scores, compare, holm

KOREAN = {"colloquial": "구어", "formal": "문어"}


def paired(measure, before, after, units=None, seed=0):
    "The comparison of two mappings item -> value (None: no score); `units`: item -> what was sampled (a need)."
    return compare(Scores({measure: dict(before)}, units or {}), Scores({measure: dict(after)}, units or {}), measure, seed=seed)


def table(rows):
    """The table of a page out of (label, before, after, comparison): means over the items that both score, difference with its interval, p by
    Holm over all rows, the smallest difference that could have been seen, items and units."""
    found = [c for *_, c in rows]
    found = [replace(c, p_holm=p) for c, p in zip(found, holm([c.p for c in found]))]
    out = {}
    for (label, before, after, _), c in zip(rows, found):
        both = [k for k in before if before[k] is not None and after.get(k) is not None]
        mean = lambda values: sum(values[k] for k in both)/len(both) if both else None
        out[label] = {"재는 것": c.measure, "전": mean(before), "후": mean(after), "차이": c.difference, "95 %": [c.low, c.high], "p": c.p_holm,
                      "MDE": c.mde, "n": c.n, "필요": c.n_units}
    return out


def steps(experiment, pairs, measures=("nDCG@10",), slices=KOREAN):
    "Rows for pairs (label, system before, system after) of an experiment, on each slice."
    at = {(r.system, r.slice): r.scores for r in experiment.rows}
    def named(label, s, m):
        return ", ".join(w for w in (slices.get(s, s), label, m if len(measures) > 1 else "") if w)
    return [(named(label, s, m), at[b, s].per_query[m], at[a, s].per_query[m],
             compare(at[b, s], at[a, s], m))
            for label, b, a in pairs for s in slices for m in measures]


def show(rows):
    "The table, printed."
    for label, r in rows.items():
        p = "-" if r["p"] is None else f"{r['p']:.4f}"
        low, high = (("-" if v is None else f"{v:+.3f}") for v in r["95 %"])
        mde = "-" if r["MDE"] is None else f"{r['MDE']:.3f}"
        number = lambda v: "-" if v is None else f"{v:.3f}"
        change = "-" if r["차이"] is None else f"{r['차이']:+.3f}"
        print(f"{label}: {r['재는 것']} {number(r['전'])} / {number(r['후'])}, {change} [{low}, {high}], p {p}, MDE {mde}, n {r['n']} ({r['필요']})")

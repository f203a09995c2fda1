"""Quantities found in short Korean phrases: python benchmarks/quantities.py [--half dev|test] [--errors] [FILE.tsv]

A row is: domain, phrase, and the quantities that a reader finds in it ('-': none), joined by '; ': kind, value with its canonical unit
('a..b' is a range), then, where there are any, the bounds (of a range both), the side (전, 후) and what it is per (/1개월).
A phrase is right only when every one of them is right and nothing else is found. Odd rows are the half on which the module was developed,
even rows were written before it, and none of their failures was looked at.
"""
import argparse, re, sys
from fractions import Fraction
from pathlib import Path

from rag_quality.claims.quantities import find_quantities

import kept

TARGET = 0.90


def moment(q, value):
    value = int(value)
    if q.dimension == "clock": return f"{value // 60:02}:{value % 60:02}"
    if q.dimension == "date":
        y, m, d = value // 10_000, value // 100 % 100, value % 100
        part = q.unit.lstrip("YMD")
        if part: return f"{y or ''}-{m:02}-{part}"
        return "-".join(([str(y)] if y else [""]) + ([f"{m:02}"] if m else [""] if d else []) + ([f"{d:02}"] if d else []))
    return {0: "초", 1: "중순", 2: "말"}[value]


def spell(q):
    "A quantity in the notation of the table."
    kind, _, unit = q.dimension.partition(":")
    if q.dimension == "phase": value = q.unit + moment(q, q.value)
    elif q.dimension in ("date", "clock"): value = moment(q, q.value) + (f"..{moment(q, q.upper)}" if q.upper is not None else "")
    else:
        bare = q.dimension in ("ratio", "grade_point", "letter_grade", "temperature") or kind in ("weekday", "odds", "number", "cohort")
        unit = "" if bare and q.dimension != "temperature" else q.unit
        if q.dimension == "age": unit = "세"
        value = str(q.value) + (f"..{q.upper}" if q.upper is not None else "") + unit
    per = f"/{q.per}" if q.per else ""
    return " ".join(x for x in (kind, value, q.bound + q.upper_bound, q.side, per) if x)


def exact(entry):
    "An entry of the table with its numbers as reduced fractions (2.5 -> 5/2), but for dates and times."
    kind, value, *rest = entry.split(" ")
    if kind in ("date", "clock", "phase"): return entry
    number = re.compile(r"-?\d+(?:\.\d+|/\d+)?")
    return " ".join([kind, number.sub(lambda m: str(Fraction(m[0])), value), *(number.sub(lambda m: str(Fraction(m[0])), r) if r[0] == "/" and "만점" not in r else r for r in rest)])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("table", nargs="?", type=Path, default=Path(__file__).with_suffix(".tsv"))
    parser.add_argument("--half", choices=("dev", "test"))
    parser.add_argument("--errors", action="store_true", help="show the wrong phrases")
    args = parser.parse_args()
    if not args.table.is_file(): print(f"파일이 없습니다: {args.table}", file=sys.stderr); return 2
    rows = [l.split("\t") for l in args.table.read_text(encoding="utf8").splitlines() if l.strip()]
    for half, start in (("dev", 0), ("test", 1)):
        if args.half not in (None, half): continue
        right, found, wanted, hit, wrong = 0, 0, 0, 0, []
        for domain, phrase, gold in rows[start::2]:
            gold = [] if gold == "-" else sorted(map(exact, gold.split("; ")))
            mine = sorted(spell(q) for q in find_quantities(phrase))
            right += gold == mine; found += len(mine); wanted += len(gold); hit += len(set(gold) & set(mine))
            if gold != mine: wrong.append((phrase, gold, mine))
        n = len(rows[start::2])
        print(f"{half}: phrases right {right/n:.3f} (n={n}, target {TARGET}), quantities precision {hit/found:.3f} (n={found}), recall {hit/wanted:.3f} (n={wanted})")
        if args.errors:
            for phrase, gold, mine in wrong: print(f"   {phrase}\n      {'; '.join(gold) or '-'}\n      {'; '.join(mine) or '-'}")
    return 0


if __name__ == "__main__": kept.run(main, split="dev, test")

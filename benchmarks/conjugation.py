"""Conjugation of Korean verbs and adjectives: python benchmarks/conjugation.py [--errors] [TABLE.tsv ...]

A table has a row a word: the dictionary form, its class, and the forms written by hand ('/' between forms that are both
in use, '-' where there is none). A word is right only when every cell is exactly what `conjugate` makes for it, and when
`MorphologicalExpander` (default depth) gives the first four cells of all the word's rows and no other form of the word.
Without arguments, the tables beside this script: conjugation_table.tsv (100 words, every irregular class, the target),
conjugation_further.tsv (103 words; 101 were right at first, then two lists of stems were corrected) and conjugation_unseen.tsv
(76 words, written after that, all right when first run).
"""
import argparse, sys
from collections import defaultdict
from pathlib import Path

from rag_quality.korean.conjugation import conjugate, readings
from rag_quality.morphology import MorphologicalExpander

import kept

HERE = Path(__file__).parent
DEFAULT = 4     # the first four endings belong to the default depth


def cell(text): return set() if text == "-" else set(text.split("/"))


def choose(lemma, class_, row):
    "The reading of a dictionary form that a row is about."
    found = readings(lemma)
    same = [w for w in found if w.irregular == class_] or [w for w in found if not w.irregular]
    return next((w for w in same if w.verb == (row["-는"] != "-")), (same or list(found) or [None])[0])


def check(path):
    "(lemma, class, ending, expected, found) of every wrong cell; number of cells; words; wrong words"
    head, *lines = [l.split("\t") for l in path.read_text(encoding="utf8").splitlines() if l.strip()]
    rows = [dict(zip(head, l, strict=True)) for l in lines]
    endings, wrong, cells, bad = head[2:], [], 0, set()
    union = defaultdict(set)
    for n, row in enumerate(rows):
        for e in endings[:DEFAULT]: union[row["lemma"]] |= cell(row[e])
        word = choose(row["lemma"], row["class"], row)
        forms = conjugate(word, depth=2) if word else {}
        for e in endings:
            cells += 1
            found = {f for f, label in forms.items() if label == e}
            # a form that two endings share is listed once, under the first of them
            missing = {f for f in cell(row[e]) - found if f not in forms}
            extra = found - cell(row[e])
            if missing or extra: wrong.append((row["lemma"], row["class"], e, row[e], "/".join(sorted(found)) or "-")); bad.add(n)
    expander = MorphologicalExpander()
    for n, row in enumerate(rows):
        lemma = row["lemma"]
        result = expander.expand(lemma, mode="full")
        missing = {f for e in endings[:DEFAULT] for f in cell(row[e])} - set(result.terms)
        extra = {t for t, why in result.reasons.items() if why.startswith(lemma + ":")} - union[lemma]
        if lemma == "곱다": extra = set()     # its two readings stand in two tables
        if missing or extra: wrong.append((lemma, row["class"], "expand", "+" + "/".join(sorted(missing)), "-" + "/".join(sorted(extra)))); bad.add(n)
    return wrong, cells, len(rows), len(bad)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tables", nargs="*", type=Path, default=[HERE/f"conjugation_{n}.tsv" for n in ("table", "further", "unseen")])
    parser.add_argument("--errors", action="store_true", help="show the wrong cells")
    args = parser.parse_args()
    for path in args.tables:
        if not path.is_file(): print(f"파일이 없습니다: {path}", file=sys.stderr); return 2
        wrong, cells, words, bad = check(path)
        form_errors = sum(w[2] != "expand" for w in wrong)
        print(f"{path.name}: words {1 - bad/words:.3f} (n={words}, target 0.99), forms {1 - form_errors/cells:.4f} (n={cells})")
        if args.errors:
            for w in wrong: print("  ", *w)
    return 0


if __name__ == "__main__": kept.run(main)

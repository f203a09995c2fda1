"""Politeness and register: python benchmarks/formality.py [--errors N] stylekqc.tsv smilestyle.tsv queries.jsonl

Each file is recognised by its shape: StyleKQC rows (block, formal|informal, act, sentence), SmileStyle rows
(formal <TAB> informal), queries.jsonl with metadata.register.
"""
import argparse, json, sys
from pathlib import Path

from rag_quality.colloquial import detect_formality

import kept


def cases(path):
    "(target, name, text, is it right) of one file"
    lines = [l for l in path.read_text(encoding="utf8").splitlines() if l.strip()]
    if path.suffix == ".jsonl":
        for row in map(json.loads, lines):
            if (label := row["metadata"]["register"]): yield .95, "register", row["text"], {"formal": "written"}.get(label, label), detect_formality(row["text"]).register
        return
    for cols in (l.split("\t") for l in lines):
        if len(cols) == 4:
            pairs, target, name = [(cols[1] == "informal", cols[3])], .97, "StyleKQC politeness"
        elif len(cols) == 2:
            pairs, target, name = [(False, cols[0]), (True, cols[1])], .985, "SmileStyle politeness"
        else: continue
        for casual, text in pairs:
            yield target, name, text, casual, detect_formality(text).politeness == "casual"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("paths", nargs="+", type=Path)
    parser.add_argument("--errors", type=int, default=0, help="show this many wrong cases")
    args = parser.parse_args()
    for path in args.paths:
        if not path.is_file(): print(f"파일이 없습니다: {path}", file=sys.stderr); return 2
        found = list(cases(path))
        if not found: print(f"알아볼 수 있는 줄이 없습니다: {path}", file=sys.stderr); return 2
        wrong = [c for c in found if c[3] != c[4]]
        target, name = found[0][:2]
        print(f"{name}: accuracy {1 - len(wrong)/len(found):.4f}  (n={len(found)}, target {target})")
        for c in wrong[:args.errors]: print("   expected", c[3], "|", c[2])
    return 0


if __name__ == "__main__": kept.run(main)

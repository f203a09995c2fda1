"""Key phrases of questions: python benchmarks/sae4k.py [--errors N] [--type T] sae4k.tsv

Rows: utterance <TAB> key phrase <TAB> type. Prints the mean F1 between the bags of content morphemes of the
transformed utterance and of the key phrase, beside the unchanged utterance and the best deletion.
"""
import argparse, sys
from collections import Counter
from pathlib import Path

from rag_quality.colloquial import ColloquialTransformer
from rag_quality.korean import shared_kiwi

import kept

TAGS = frozenset("NNG NNP NNB NR SN SL VV VA XR MAG NP MM".split())


def bags(texts): return [Counter(t.form for t in toks if t.tag.split("-")[0] in TAGS) for toks in shared_kiwi().tokenize(texts)]


def f1(a, b):
    if not a or not b: return float(a == b)
    return 2*sum((a & b).values())/(sum(a.values()) + sum(b.values()))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("path", type=Path)
    parser.add_argument("--errors", type=int, default=0, help="show this many of the worst sentences")
    parser.add_argument("--type", default="", help="only this type (0 yes/no, 1 alternative, 2 wh)")
    args = parser.parse_args()
    if not args.path.is_file(): print(f"파일이 없습니다: {args.path}", file=sys.stderr); return 2
    rows = [r for r in (l.split("\t") for l in args.path.read_text(encoding="utf8").splitlines()) if len(r) == 3 and args.type in ("", r[2])]
    if not rows: print(f"알아볼 수 있는 줄이 없습니다: {args.path}", file=sys.stderr); return 2
    transformer = ColloquialTransformer()
    outs = [transformer.transform(r[0]).transformed_query for r in rows]
    before, after, gold = bags([r[0] for r in rows]), bags(outs), bags([r[1] for r in rows])
    scores = [f1(a, g) for a, g in zip(after, gold)]
    mean = lambda xs: sum(xs)/len(xs)
    print(f"sae4K content F1: {mean(scores):.4f}  (n={len(rows)}, target 0.88; unchanged {mean([f1(b, g) for b, g in zip(before, gold)]):.4f}, "
          f"best deletion {mean([f1(b & g, g) for b, g in zip(before, gold)]):.4f})")
    for t in sorted({r[2] for r in rows}): print(f"   type {t}: {mean([s for s, r in zip(scores, rows) if r[2] == t]):.4f}  (n={sum(r[2] == t for r in rows)})")
    step = sorted(range(len(rows)), key=lambda i: scores[i])[:args.errors]
    for i in step: print(f"   {scores[i]:.2f} | {rows[i][0]} | {outs[i]} | {rows[i][1]}")
    return 0


if __name__ == "__main__": kept.run(main, split="dev")

"""The parts that claims stand on: python benchmarks/claims_parts.py [--errors] [--half dev|test] [--answers FILE.jsonl]

Sentences and claims (splitting.jsonl), citations (citing.tsv) and names (names.tsv), written by hand beside this script in a dev
and a test half; a text is right only when its whole list is right. The test half was written before any of its failures was looked at; on
that first run it gave (texts right, F1): sentences 0.921, 0.943; claims 0.737, 0.846; citations 0.812, 0.827 (first 32 texts) and 0.881,
0.893 (all 42); names 0.838, 0.917. General faults that it showed were then mended, so that today's figures on it are no longer blind.
--answers: rows with `segments` and `labels` (lists of S, P, U, C, A, N, a list a reader): the kinds against the labels.
"""
import argparse, json, sys, unicodedata
from collections import Counter
from pathlib import Path

from rag_quality.claims.citing import find_citations
from rag_quality.claims.names import find_names
from rag_quality.claims.splitting import split_claims, split_sentences

import kept

HERE = Path(__file__).parent


def rows(name):
    head, *lines = (HERE/name).read_text(encoding="utf8").splitlines()
    return [dict(zip(head.split("\t"), line.split("\t"), strict=True)) for line in lines if line.strip()]


def parts(gold): return [g for g in gold.split("|") if g]


def citing(half):
    for r in rows("citing.tsv"):
        if r["half"] == half: yield r["text"], parts(r["citations"]), [c.key + (f"~{c.last}" if c.last else "") for c in find_citations(r["text"])]


def names(half):
    for r in rows("names.tsv"):
        if r["half"] == half: yield r["text"], parts(r["names"]), [f"{n.text}/{n.kind}" for n in find_names(r["text"])]


def jsonl(half): return (r for line in (HERE/"splitting.jsonl").read_text(encoding="utf8").splitlines() if (r := json.loads(line))["half"] == half)


def sentences(half):
    for r in jsonl(half): yield r["text"], r["sentences"], [s.text for s in split_sentences(r["text"])]


def claims(half, slots=slice(3)):
    for r in jsonl(half):
        yield r["text"], [c[slots] for c in r["claims"]], [[c.text, c.kind, c.context][slots] for c in split_claims(r["text"])]


def report(title, half, found, show):
    found = list(found)
    right = sum(g == f for _, g, f in found)
    tp = sum(sum((Counter(map(str, g)) & Counter(map(str, f))).values()) for _, g, f in found)
    n_gold, n_found = sum(len(g) for _, g, _ in found), sum(len(f) for _, _, f in found)
    print(f"{title:22} {half:4} texts right {right/len(found):.3f} (n={len(found)})  F1 {2*tp/max(1, n_gold+n_found):.3f} (n={n_gold})")
    if show:
        for text, g, f in found:
            if g != f: print("   ", repr(text[:100])); print("      gold ", g); print("      found", f)


def agreement(path):
    "Kinds of real segments against what readers said: A abstains, N no claim, the rest make a claim."
    table, n = Counter(), 0
    for line in path.read_text(encoding="utf8").splitlines():
        r = json.loads(line)
        answer, at = unicodedata.normalize("NFC", r["answer"]), 0
        pieces = split_claims(answer)
        for segment, label in zip(r["segments"], r["labels"][0]):
            start = answer.find(unicodedata.normalize("NFC", segment), at)
            at = start + 1 if start >= 0 else at
            kinds = {c.kind for c in pieces if start <= c.start < start + len(segment)} if start >= 0 else {c.kind for c in split_claims(segment)}
            kind = "claim" if "claim" in kinds else "A" if "abstention" in kinds else "N"
            table[label if label in "AN" else "claim", kind] += 1; n += 1
    right = sum(v for (a, b), v in table.items() if a == b)
    base = max(sum(v for (a, _), v in table.items() if a == l) for l in ("claim", "A", "N"))
    chance = sum(sum(v for (a, _), v in table.items() if a == l) * sum(v for (_, b), v in table.items() if b == l) for l in ("claim", "A", "N")) / n**2
    print(f"kind of segment: agreement {right/n:.3f} (n={n}, base rate {base/n:.3f}), kappa {(right/n - chance)/(1 - chance):.3f}")
    for gold in ("claim", "A", "N"): print(f"   {gold:6}", {found: table[gold, found] for found in ("claim", "A", "N")})


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--errors", action="store_true", help="show what is wrong")
    parser.add_argument("--half", choices=("dev", "test"), help="only this half")
    parser.add_argument("--answers", type=Path, help="segments with labels")
    args = parser.parse_args()
    if args.answers and not args.answers.is_file(): print(f"파일이 없습니다: {args.answers}", file=sys.stderr); return 2
    for half in (args.half,) if args.half else ("dev", "test"):
        report("sentences", half, sentences(half), args.errors)
        report("claims: text, kind", half, claims(half, slice(2)), False)
        report("claims: and context", half, claims(half), args.errors)
        report("citations", half, citing(half), args.errors)
        report("names", half, names(half), args.errors)
    if args.answers: agreement(args.answers)
    return 0


if __name__ == "__main__": kept.run(main, split="dev, test")

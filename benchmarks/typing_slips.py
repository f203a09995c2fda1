"""Queries with one letter wrong, and queries typed without switching to Hangul: how much of what they lose is found again, and what is mended wrongly.

usage: python benchmarks/typing_slips.py [DATA] [--slice]       DATA: a folder with regs/, law/ (their dev queries too)

In each query one word of three syllables or two (a content noun of the query, by chance, seed 0) gets one letter (자모) of one syllable changed, or is
struck on the Latin keyboard, or spelled otherwise with the same sound (ㅐ for ㅔ, ㅅ for ㅆ, every syllable that can be). nDCG@10 of the default pipeline: as typed rightly, with the slip and no mending, with it. And: how many of
the queries without a slip are changed at all (each such change is a mistake), with time a query.
"""
import argparse
import random
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

import kept
from rag_quality.data import bundled, load_collection
from rag_quality.experiment import pipeline
from rag_quality.knowledge.typing import _FIRSTS, _KEYS, _LASTS, _MIDDLES, _PAIRS, TypedWords, one_letter_off, sound
from rag_quality.korean.formality import query_tokens
from rag_quality.metrics import compare, evaluate

STRUCK = {v: k for k, v in _KEYS.items()}
APART = {v: k for k, v in _PAIRS.items()}


def struck(word):
    "The keys that a word is typed with."
    out = ""
    for c in word:
        k = ord(c) - 0xAC00
        for letter in (_FIRSTS[k//588], _MIDDLES[k//28%21], _LASTS[k%28]):
            out += "".join(STRUCK.get(x, "") for x in APART.get(letter, letter)) if letter != "_" else ""
    return out


def misspelled(word, rng):
    "The word as it sounds, spelled otherwise in every syllable that can be."
    out = ""
    for c in word:
        k = ord(c) - 0xAC00
        other = [x for m in range(21) for last in range(28) if (x := chr(0xAC00 + (k//588*21 + m)*28 + last)) != c and sound(x) == sound(c)]
        out += rng.choice(other) if other else c
    return out


SLIPS = {"one letter": lambda word, rng: rng.choice(one_letter_off(word)), "Latin keys": lambda word, rng: struck(word), "by its sound": misspelled}


def slipped(query, rng, how):
    "The query with a slip in one of its nouns; None where it has none of two syllables, or none that the slip changes."
    nouns = [t for t in query_tokens(query) if t.tag in ("NNG", "NNP") and len(t.form) > 1 and t.form in query and all("가" <= c <= "힣" for c in t.form)]
    if not nouns:
        return None
    word = rng.choice(nouns).form
    other = how(word, rng)
    return query.replace(word, other, 1) if other != word else None


def measure(name, collection, queries):
    system = pipeline(collection)[-1]
    bare = replace(system, steps=[s for s in system.steps if s.name != "typing"])
    words = TypedWords(collection.passages)
    qrels = {q.query_id: collection.qrels.get(q.query_id, {}) for q in queries}
    start = time.perf_counter()
    wrong = [(q.text, m.told) for q in queries if (m := words.mend(q.text)).changes]
    print(f"{name}: {len(wrong)} of {len(queries)} queries without a slip are changed; {1000*(time.perf_counter() - start)/len(queries):.2f} ms a query")
    right = evaluate(qrels, bare.run(queries, 10), ["nDCG@10"])
    out = {"n": len(queries), "changed without a slip": len(wrong)}
    for what, how in SLIPS.items():
        rng = random.Random(0)
        made = [replace(q, text=t) for q in queries if (t := slipped(q.text, rng, how))]
        some = {q.query_id: qrels[q.query_id] for q in made}
        lost, found = (evaluate(some, s.run(made, 10), ["nDCG@10"]) for s in (bare, system))
        whole = right.subset([q.query_id for q in made])
        c = compare(lost, found, "nDCG@10", seed=0)
        mean = [float(np.mean(list(x.per_query["nDCG@10"].values()))) for x in (whole, lost, found)]
        mended = np.mean([words.mend(q.text).text == next(x.text for x in queries if x.query_id == q.query_id) for q in made])
        print(f"{name}, {what}: n {len(made)}, nDCG@10 typed rightly {mean[0]:.3f}, slipped {mean[1]:.3f}, mended {mean[2]:.3f} ({c.difference:+.3f} [{c.low:.3f}, {c.high:.3f}]); read as meant {mended:.3f}")
        out[what] = {"n": len(made), "right": mean[0], "slipped": mean[1], "mended": mean[2], "read as meant": float(mended)}
    return out


def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("data", nargs="?", type=Path)
    ap.add_argument("--slice", action="store_true")
    args = ap.parse_args()
    hanbit = bundled().split("test")
    queries = [q for q in hanbit.judged if q.query_id.endswith("-f")][::8 if args.slice else 1]
    out = {"hanbit test, formal": measure("hanbit test, formal", hanbit, queries)}
    if args.data and not args.slice:
        for name in ("regs", "law"):
            if (args.data/name).is_dir():
                c = load_collection(args.data/name)
                out[f"{name} dev, formal"] = measure(f"{name} dev, formal", c, [q for q in c.judged if q.query_id.endswith("-f")])
    kept.note(n=sum(v["n"] for v in out.values()), slips=out)
    return 0


if __name__ == "__main__":
    kept.run(main, split="test, dev", seed=0)

"""Where the references of texts lead: the sentences written for it, and what a folder of passages has.

usage: python benchmarks/references.py [DATA ...] [--look N] [--errors]
The sentences stand in references.json beside this script, over regulations of invented institutions: `dev` was used while the
resolver was written, `heldout` was written before it and looked at only afterwards (30 sentences: .800 at first, .967 when it was looked at). A sentence
is right where every reference has the right kind, text and place, and there is none besides. DATA: collections; printed are
the references by kind, the seconds, and with --look N references of each kind to be read by eye.
"""
import argparse
import json
import random
import time
from collections import Counter
from pathlib import Path

import kept

from rag_quality.data import load_collection, split_articles
from rag_quality.data.references import ReferenceIndex

SET = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf8"))


def passages(texts):
    return [p for code, text in texts.items() for p in split_articles(text, code)]


def sentences(half, errors):
    "(right, n) over the sentences of a half."
    index, right = ReferenceIndex(passages(SET["regulations"]), passages(SET["laws"])), 0
    for row in SET[half]:
        got = [f"{r.kind} {r.regulation} {r.place}" for r in index.find(row["text"], row["at"])]
        right += got == row["refs"]
        if errors and got != row["refs"]:
            print(f"{row['text']}\n   right {row['refs']}\n   found {got}")
    return right, len(SET[half])


def collection(path, look):
    "The references of a collection by kind."
    found, start = load_collection(path, strict=False), time.process_time()
    index = ReferenceIndex(found.passages)
    made = time.process_time()
    every = [(p, r) for p in found.passages for r in index.find(p.text, p)]
    done = time.process_time()
    kinds = Counter(r.kind for _, r in every)
    print(f"{found.name}: {len(found.passages):,} passages, {len(every):,} references {dict(kinds.most_common())}, "
          f"index {made-start:.2f} s, all references {done-made:.2f} s")
    rng = random.Random(0)
    for kind in kinds if look else ():
        mine = [x for x in every if x[1].kind == kind]
        for p, r in rng.sample(mine, min(look, len(mine))):
            around = p.text[max(0, r.start-40):r.end+20].replace("\n", " ")
            print(f"  {kind:8} {p.doc_id} | {around} => {r.text} = {r.key}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="*")
    parser.add_argument("--look", type=int, default=0)
    parser.add_argument("--errors", action="store_true")
    args = parser.parse_args()
    for half in ("dev", "heldout"):
        right, n = sentences(half, args.errors)
        print(f"{half:8} sentences right {right}/{n} = {right/n:.3f}")
    for path in args.data:
        collection(path, args.look)


if __name__ == "__main__":
    kept.run(main)

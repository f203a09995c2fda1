"""What a second domain of the bank buys: python benchmarks/domains.py [DATA] [--slice]

The default pipeline with the knowledge of all packaged domains (data/domains: campus, life), of the campus alone (the encoder is the packaged
one in both), and without any, on hanbit test; with DATA (a folder of regs and law) also on their dev halves, which nobody wrote entries for.
Then how near the wordings of the bank come to the questions that are measured with: the highest overlap of their character trigrams (Jaccard).
"""
import argparse
from pathlib import Path

import numpy as np

import rag_quality.experiment as experiment
from rag_quality.core import bundle_path
from rag_quality.data import bundled, load_collection
from rag_quality.knowledge.bank import QueryRewriter, load_bank
from rag_quality.metrics import Scores, evaluate
from rag_quality.persona.improve import run_of

import changes
import kept


def system(collection, needs):
    "The default pipeline with these needs as its bank; None: without the bank."
    rows = {s.name: s for s in experiment.pipeline(collection)}
    if needs is None:
        return rows["+ neighbours"]
    known = experiment.CampusSearch

    class Search(known):
        def __init__(self, *given, **named):
            super().__init__(*given, rewriter=QueryRewriter(needs), **named)
    experiment.CampusSearch = Search
    try:
        return experiment.pipeline(collection)[-1]
    finally:
        experiment.CampusSearch = known


def scores(collection, part, made):
    units = {q.query_id: q.metadata.get("pair", q.query_id) for q in part}
    return evaluate({q.query_id: collection.qrels[q.query_id] for q in part}, run_of(made, {q.query_id: q.text for q in part}), "nDCG@10", units=units)


def grams(text):
    bare = "".join(text.split())
    return frozenset(bare[i:i + 3] for i in range(len(bare) - 2))


def nearest(needs, questions):
    "(highest Jaccard overlap, question, wording) of the questions' and the bank's trigrams."
    said, at = [], {}
    for n in needs:
        for text in (n.formal, *(l.text for l in n.lay)):
            for g in (own := grams(text)):
                at.setdefault(g, []).append(len(said))
            said.append((own, text))
    best = (0., "", "")
    for q in questions:
        mine, shared = grams(q), {}
        for g in mine:
            for i in at.get(g, ()):
                shared[i] = shared.get(i, 0) + 1
        for i, n in shared.items():
            value = n/len(mine | said[i][0])
            if value > best[0]:
                best = value, q, said[i][1]
    return best


def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("data", nargs="?", type=Path)
    ap.add_argument("--slice", action="store_true", help="every eighth need of hanbit test")
    args = ap.parse_args()
    every, campus = load_bank(), load_bank(bundle_path("domains", "campus"))
    print(f"필요 {len(every):,}가지 (campus {len(campus):,}), 사람의 말 {sum(len(n.lay) for n in every):,}개")
    sets = [("hanbit test", bundled().split("test").some(8 if args.slice else 1))]
    sets += [(f"{name} dev", load_collection(args.data/name).split("dev")) for name in ("regs", "law") if args.data and (args.data/name).is_dir()]
    rows, overlaps = [], {}
    for name, part in sets:
        made = {"없음": system(part, None), "campus": system(part, campus), "모두": system(part, every)}
        for register, korean in changes.KOREAN.items():
            asked = [q for q in part.judged if q.metadata.get("register") == register]
            found = {k: scores(part, asked, s) for k, s in made.items()}
            for before in ("없음", "campus"):
                rows.append((f"{name}, {korean}: {before} → 모두", found[before].per_query["nDCG@10"], found["모두"].per_query["nDCG@10"],
                             changes.compare(found[before], found["모두"], "nDCG@10")))
        if name != "hanbit test":
            value, q, text = nearest([n for n in every if n not in set(campus)], [q.text for q in part.queries])
            overlaps[name] = value
            print(f"{name}: life의 말과 가장 가까운 질의의 세 글자 겹침 {value:.3f}")
    table = changes.table(rows)
    changes.show(table)
    kept.note(n=sum(r["n"] for r in table.values()), domains=table, overlap=overlaps)


if __name__ == "__main__":
    kept.run(main, split="test", seed=0)

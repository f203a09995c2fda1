"""What grading buys on hanbit test: the corrective loop's nDCG@10, and refusing by the graded context: python benchmarks/phase_grading.py [--slice]

Loop: a search alone and the same search with `CorrectiveRetriever`, over BM25 of Kiwi morphemes and over the default pipeline.
Refusal: is each question decided rightly (answered where the book answers it, refused where it does not)? Before: the first hit's cosine or BM25
score against the threshold of each that decides dev best (mean of the two shares of right decisions), one for each register; the better of the two
on dev. After: `KnowingScorer` over the default pipeline's five best. What never refuses is right on every answerable question and on no other.
Wordings of one need are one unit. Every third need that the book answers, every need that it does not; `--full`: all, `--slice`: every eighth.
"""
import argparse
import json

import numpy as np

from rag_quality.core import bundle_path
from rag_quality.data import bundled
from rag_quality.experiment import pipeline
from rag_quality.grading import CorrectiveRetriever, PassageGrader
from rag_quality.grading.context import KnowingScorer
from rag_quality.knowledge.talk import needs_retrieval
from rag_quality.metrics import evaluate
from rag_quality.retrieval import BM25Index, VectorStore

import changes
import kept

MEASURE, CONTEXT = "옳은 판단", 5


def some(split, every, unanswered=1):
    "The queries of every n-th need that the book answers, and of every m-th that it does not."
    needs = {}
    for q in split.queries:
        needs[q.metadata["pair"]] = needs.get(q.metadata["pair"], False) or bool(relevant(split, q))
    taken = {*[n for n, yes in needs.items() if yes][::every], *[n for n, yes in needs.items() if not yes][::unanswered]}
    return [q for q in split.queries if q.metadata["pair"] in taken]


def relevant(split, q):
    return {d for d, g in split.qrels.get(q.query_id, {}).items() if g > 0}


def loops(test, asked, plain, default, grader):
    "Rows of the loop by register, what it recovers and loses of the first ten, and what the default pipeline found first, by query."
    rows, moved, firsts = [], {}, {}
    for name, system in (("BM25에서 되찾기", plain), ("기본 구성에서 되찾기", default)):
        loop = CorrectiveRetriever(system, scorer=grader)
        runs = [{}, {}]
        for q in asked:
            if not relevant(test, q):
                continue
            found = loop.retrieve(q.text, 10)
            firsts[q.query_id] = found.steps[0].hits, found.text
            for run, ids in zip(runs, (found.steps[0].hits[:10], [p.doc_id for p, _ in found.hits])):
                run[q.query_id] = {d: 1/(1 + i) for i, d in enumerate(ids)}
        for register, korean in changes.KOREAN.items():
            part = [q for q in asked if q.metadata["register"] == register and relevant(test, q)]
            units = {q.query_id: q.metadata["pair"] for q in part}
            before, after = (evaluate({q: test.qrels[q] for q in units}, {q: run[q] for q in units}, "nDCG@10", units=units).per_query["nDCG@10"] for run in runs)
            rows.append((f"{korean}, {name}", before, after, changes.paired("nDCG@10", before, after, units)))
            first, last = ([bool(set(run[q.query_id]) & relevant(test, q)) for q in part] for run in runs)
            moved[f"{korean}, {name}"] = {"놓친": sum(not x for x in first), "되찾음": sum(b and not a for a, b in zip(first, last)),
                                          "찾은": sum(first), "놓침": sum(a and not b for a, b in zip(first, last))}
    order = list(changes.KOREAN.values())
    return sorted(rows, key=lambda r: order.index(r[0].split(",")[0])), moved, firsts


def first_of(system, text):
    "The doc_ids that a system finds, and the text that it searched."
    found = system.search(text, 10)
    return [p.doc_id for p, _ in found.hits], found.text


def balanced(score, ought, threshold):
    "The mean of the shares of right decisions on answerable and on other questions."
    return ((score[ought] >= threshold).mean() + (score[~ought] < threshold).mean())/2


def threshold_rule(dev, asked, ways):
    "register -> (way, threshold) that decides dev best."
    out = {}
    for register in changes.KOREAN:
        part = [q for q in asked if q.metadata["register"] == register]
        ought = np.array([bool(relevant(dev, q)) for q in part])
        found = []
        for name, score_of in ways.items():
            score = np.array([score_of(q.text) for q in part])
            found += [(balanced(score, ought, t), name, float(t)) for t in np.unique(score.round(4))]
        best = max(found)
        out[register] = best[1:]
        print(f"{changes.KOREAN[register]}: dev에서 고른 문턱 {best[1]} {best[2]:.3f}, dev의 옳은 판단 {best[0]:.3f}, n {len(part)} (답이 없음 {int((~ought).sum())})")
    return out


def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("--slice", action="store_true", help="every eighth need")
    ap.add_argument("--full", action="store_true", help="every need")
    args = ap.parse_args()
    every, unanswered = (8, 8) if args.slice else (1, 1) if args.full else (3, 1)
    hanbit = bundled()
    dev, test = hanbit.split("dev"), hanbit.split("test")
    asked = some(test, every, unanswered)
    ladder = {s.name: s for s in pipeline(hanbit)}
    plain, default = ladder["+ stop morphemes"], ladder["+ regulation"]
    rows, moved, firsts = loops(test, asked, plain, default, PassageGrader(hanbit.passages))
    bm25, store = BM25Index(hanbit.passages), VectorStore(hanbit.passages)
    ways = {name: lambda text, r=r: max((s for _, s in r.search(text, 1)), default=0.) for name, r in {"코사인": store, "BM25": bm25}.items()}
    rule = threshold_rule(dev, some(dev, every, unanswered), ways)
    scorer = KnowingScorer(hanbit.passages)
    kinds = {r["need"]: r.get("unanswerable") for r in map(json.loads, bundle_path("hanbit", "needs.jsonl").read_text(encoding="utf8").splitlines())}
    by_threshold, by_grades, shares = {}, {}, {}
    for q in asked:
        ids, text = firsts[q.query_id] if q.query_id in firsts else first_of(default, q.text)
        way, threshold = rule[q.metadata["register"]]
        answers = needs_retrieval(q.text).needed and scorer.score_context(q.text, [default.passages[d] for d in ids[:CONTEXT]], also=text).score >= .5
        ought = bool(relevant(test, q))
        by_threshold[q.query_id] = float((ways[way](q.text) >= threshold) == ought)
        by_grades[q.query_id] = float(answers == ought)
        kind = "답이 있음" if ought else {"near": "가까운 헛것", "far": "먼 헛것"}.get(kinds[q.metadata["pair"]], "답이 없음")
        shares.setdefault(f"{changes.KOREAN[q.metadata['register']]}, {kind}", []).append(by_grades[q.query_id])
    units = {q.query_id: q.metadata["pair"] for q in asked}
    for register, korean in changes.KOREAN.items():
        for name, ought in (("답이 있는 물음", True), ("답이 없는 물음", False)):
            ids = [q.query_id for q in asked if q.metadata["register"] == register and bool(relevant(test, q)) == ought]
            b, a = {q: by_threshold[q] for q in ids}, {q: by_grades[q] for q in ids}
            rows.append((f"{korean}, {name}", b, a, changes.paired(MEASURE, b, a, {q: units[q] for q in ids})))
    table = changes.table(rows)
    changes.show(table)
    for label, m in moved.items():
        print(f"{label}: 놓친 {m['놓친']}건 가운데 되찾음 {m['되찾음']}, 찾은 {m['찾은']}건 가운데 놓침 {m['놓침']}")
    kinds_of = {k: {"옳은 판단": sum(v)/len(v), "n": len(v)} for k, v in sorted(shares.items())}
    for k, v in kinds_of.items():
        print(f"{k}: 옳은 판단 {v['옳은 판단']:.3f}, n {v['n']}")
    kept.note(n=len(asked), grading=table, moved=moved, kinds=kinds_of)


if __name__ == "__main__":
    kept.run(main, split="test (문턱은 dev)")

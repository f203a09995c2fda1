"""What answering in a checked loop buys (hanbit test, offline): python benchmarks/phase_answering.py [--full] [--slice]

before: the first three sentences of the first passage that the default pipeline finds, cited, never refusing.
after: `answerer_for` over the same search. Each need once in each register. Key facts: a sentence or two of the answer covers
the fact (.6 of it or more) without a difference; a refusal holds none. Sources: by regulation and article.
Further: lies planted into extracted answers, with and without the loop; the thresholds; what extraction holds of the facts, from BM25's
first five; how far the probability of a part is true.
Every second need of the test half (`--full`: all; `--slice`: every twelfth); lies and thresholds on every fourth of these.
"""
import argparse
import json

import numpy as np

from rag_quality.answering import ExtractiveAnswerer, answerer_for, generate_answer_with_validation_sync
from rag_quality.answering.extractive import _score_parts
from rag_quality.answering.parts import parts_of, source_of
from rag_quality.claims import align, content_cover
from rag_quality.claims.reading import read
from rag_quality.claims.splitting import split_sentences
from rag_quality.core import bundle_path, log
from rag_quality.data import bundled
from rag_quality.experiment import pipeline
from rag_quality.faithfulness import FaithfulnessValidator
from rag_quality.faithfulness.citations import citation_pairs, ground_citations
from rag_quality.faithfulness.filter import HallucinationFilter
from rag_quality.korean import content_morphemes
from rag_quality.metrics import auroc
from rag_quality.retrieval import BM25Index

import changes
import kept
from planted import KINDS, StandIn, plant

HELD = .6
SENTENCES = 3


def held(facts, text):
    "The share of key facts that a text holds; None where a need lists none."
    found = [align(f["fact"], [text]) for f in facts]
    return sum(a.coverage >= HELD and not a.differences for a in found)/len(found) if found else None


def pairs_of(labels):
    "(regulation, article) of labels such as '휴학 규정 제3조'."
    return citation_pairs(" ".join(f"[{label}]" for label in labels))


def first_sentences(passages, n=SENTENCES):
    return " ".join(s.text for s in split_sentences(passages[0].text)[:n])


class Table:
    "Rows of a before/after table: measure -> register -> item -> (before, after)."
    def __init__(self):
        self.values, self.units = {}, {}

    def add(self, label, item, need, before, after):
        b, a = self.values.setdefault(label, ({}, {}))
        b[item], a[item] = before, after
        self.units[item] = need

    def rows(self):
        out = []
        for (label, measure), (before, after) in sorted(self.values.items()):
            out.append((label, before, after, changes.paired(measure, before, after, self.units)))
        return changes.table(out)


def answers(collection, needs):
    "The loop against the first sentences, over the default pipeline; and the questions that each got wrong, counted."
    by_id = {p.doc_id: p for p in collection.passages}
    system = pipeline(collection)[-1]
    assistant = answerer_for(collection, search=system.search)
    table, wrong = Table(), {}
    for n in needs:
        relevant = {d: g for d, g in (n["relevant"] or {}).items() if d in by_id}
        want = pairs_of(source_of(by_id[d]).label for d in relevant)
        best = pairs_of(source_of(by_id[d]).label for d, g in relevant.items() if g == 2)
        for name, asked in (("구어", n["colloquial"]), ("문어", n["formal"])):
            item = f"{n['need']} {name}"
            hits = [p for p, _ in system.search(asked, 5).hits]
            answer = assistant.ask(asked)
            if not relevant:
                table.add((f"{name}, 없는 것을 거절", "거절"), item, n["need"], 0. if hits else 1., float(answer.abstained))
                kind = f"{name}, 답이 없는 질문에 답함"
                wrong.setdefault(kind, []).append(not answer.abstained)
                continue
            plain = first_sentences(hits) if hits else ""
            text = "" if answer.abstained else answer.content.replace(answer.metadata.get("notice") or "\0", "")
            facts = held(n["key_facts"], plain), held(n["key_facts"], text)
            table.add((f"{name}, 핵심 사실", "담은 비율"), item, n["need"], *facts)
            cited = pairs_of([source_of(hits[0]).label]) if hits else set()
            ours = citation_pairs(answer.content) if text else set()
            table.add((f"{name}, 맞는 조문을 댐", "재현율"), item, n["need"], len(cited & best)/len(best), len(ours & best)/len(best))
            right = (len(c & want)/len(c) if c else None for c in (cited, ours))
            table.add((f"{name}, 댄 조문이 맞음", "정밀도"), item, n["need"], *right)
            table.add((f"{name}, 있는 것에 답함", "답함"), item, n["need"], float(bool(hits)), float(not answer.abstained))
            found = any(p.doc_id in relevant for p in hits)
            wrong.setdefault(f"{name}, 조문을 찾지 못함", []).append(not found)
            wrong.setdefault(f"{name}, 찾았는데 답하지 않음", []).append(found and answer.abstained)
            if facts[1] is not None:
                wrong.setdefault(f"{name}, 답했는데 핵심 사실이 하나도 없음", []).append(not answer.abstained and facts[1] == 0)
    return table.rows(), {k: {"비율": float(np.mean(v)), "n": len(v)} for k, v in wrong.items()}


def lies(needs, search):
    "Answers with a planted lie: does it go out? Before: as the stand-in says it; after: through the loop."
    table, passed, marked = Table(), 0, 0
    tries = {}
    for i, n in enumerate(needs):
        context = search(n["formal"], 3)
        for kind in KINDS:
            stand_in = StandIn(kind, heals=i % 3 > 0)
            a = generate_answer_with_validation_sync(n["formal"], context, answerer=stand_in)
            if not stand_in.planted or not stand_in.planted[0]:
                continue
            out = bool(a.metadata.get("planted")) and not a.abstained
            table.add((kind, "거짓이 나가지 않음"), f"{n['need']} {kind}", n["need"], 0., float(not out))
            tries.setdefault(kind, []).append((len(stand_in.planted), a.abstained))
            if out:
                passed += 1
                grounded = ground_citations(a.content, list(a.contexts)).content
                marked += "확인 필요" in HallucinationFilter().filter(grounded, list(a.contexts)).content
    how = {k: {"평균 시도": float(np.mean([t for t, _ in v])), "답하지 않음": float(np.mean([a for _, a in v])), "n": len(v)}
           for k, v in tries.items()}
    return table.rows(), how, {"지나간 거짓": passed, "표시된 것": marked}


def thresholds(needs, search):
    "At which threshold is how much accepted, and how much of that is free of the planted lie?"
    validator, judged = FaithfulnessValidator(), []
    for i, n in enumerate(needs):
        context = search(n["formal"], 3)
        good = ExtractiveAnswerer().answer(n["formal"], context)
        if good.abstained:
            continue
        bad, could = plant(good.content, KINDS[i % len(KINDS)])
        for text, false in ((good.content, False), *(((bad, True),) if could else ())):
            v = validator.validate_answer(text, context)
            against = any(c.verdict == "contradicted" for c in v.claims)
            judged.append((v.score or 0., v.worst_claim_score or 0., against, false))
    score, worst, against, false = (np.array(x) for x in zip(*judged))
    rules = {"평균 점수": (score, False), "점수와 어긋남 없음": (score, True), "가장 약한 주장": (worst, True)}
    out = {}
    for name, (value, clean) in rules.items():
        for t in (.2, .4, .6, .8, 1.):
            keep = (value >= t) & (~against if clean else True)
            out.setdefault(name, {})[f"{t}"] = {"받아들임": float(keep.mean()), "거짓 없음": float(1 - false[keep].mean()) if keep.any() else None,
                                                "n": len(judged)}
    return out


def extraction(needs, search):
    "What the extractive answer holds of the facts, against a sentence alone (formal questions, BM25's first five)."
    answerer, table, letters = ExtractiveAnswerer(), Table(), {}
    for n in needs:
        context = search(n["formal"], 5)
        words = set(content_morphemes(n["formal"]))
        every = [s.text for p in context for s in split_sentences(p.text)]
        ours = answerer.answer(n["formal"], context)
        said = {"첫 조문의 첫 문장": first_sentences(context, 1), "첫 조문의 첫 세 문장": first_sentences(context),
                "첫 조문 전체": context[0].text, "가장 겹치는 문장": max(every, key=lambda s: len(words & set(content_morphemes(s))))}
        after = "" if ours.abstained else ours.content
        for name, text in said.items():
            table.add((name, "핵심 사실"), f"{n['need']} {name}", n["need"], held(n["key_facts"], text), held(n["key_facts"], after))
            letters.setdefault(name, []).append(len(text))
        letters.setdefault("ExtractiveAnswerer", []).append(len(after))
    return table.rows(), {k: int(np.median(v)) for k, v in letters.items()}


def probabilities(needs, search):
    "Is the probability of a part the share of parts that hold a key fact?"
    rows = []
    for n in needs:
        docs = search(n["formal"], 5)
        facts = [(read(f["fact"]), f["doc"]) for f in n["key_facts"]]
        for s in _score_parts(n["formal"], [p for i, d in enumerate(docs) for p in parts_of(d, i)]):
            true = any(docs[s.part.passage].doc_id == d and content_cover(f, read(s.part.whole)) >= HELD for f, d in facts)
            rows.append((s.score, s.cover, true))
    said, cover, true = (np.array(x, float) for x in zip(*rows))
    out = {}
    for low, high in ((0, .1), (.1, .3), (.3, .6), (.6, 1.01)):
        at = (said >= low) & (said < high)
        out[f"{low} ~ {min(high, 1)}"] = {"실제": float(true[at].mean()) if at.any() else None, "n": int(at.sum())}
    return out, {"덮는 비율": auroc(cover, true > 0), "확률": auroc(said, true > 0), "n": len(rows)}


def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("--slice", action="store_true", help="every twelfth need")
    ap.add_argument("--full", action="store_true", help="every need")
    args = ap.parse_args()
    step = 12 if args.slice else 1 if args.full else 2
    collection = bundled("hanbit")
    text = bundle_path("hanbit", "needs.jsonl").read_text(encoding="utf8")
    needs = [n for n in map(json.loads, text.splitlines()) if n["split"] == "test"][::step]
    answered = [n for n in needs if n["relevant"]]
    by_id, index = {p.doc_id: p for p in collection.passages}, BM25Index(collection.passages)

    def search(query, k):
        return [by_id[d] for d, _ in index.search(query, k)]

    log.disabled = True
    answering, wrong = answers(collection, needs)
    planted, tries, passed = lies(answered[::4], search)
    extractive, letters = extraction(answered, search)
    truth, area = probabilities(answered[::2], search)
    for rows in (answering, planted, extractive):
        changes.show(rows)
        print()
    print(wrong, tries, passed, letters, truth, area, sep="\n")
    kept.note(n=2*len(needs), answering=answering, wrong=wrong, planted=planted, tries=tries, passed=passed,
              thresholds=thresholds(answered[::4], search), extractive=extractive, letters=letters, probability=truth, AUROC=area)


if __name__ == "__main__":
    kept.run(main, split="test")

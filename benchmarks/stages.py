"""What each stage of search buys on the bundled collection, for the pages that explain the stages: python benchmarks/stages.py [--only PART] [--full] [--slice]

expansion   dev: strategies of query expansion without a language model, over BM25 and over vectors
rerank      dev: the first twenty of BM25 put in another order by the offline scorer (which was fitted on dev)
campus      dev: what the bank of examples adds to the hybrid search, and each of its parts taken away
relevance   test: refusing by the calibrated probability and by the overlap of words; how well the probabilities hold
nDCG@10 with intervals by register, wordings of one need as one unit; the parts over dev are no test scores.
Every fourth need of dev; of test every second with a formal and every eighth with a colloquial query. --full: all of them (four times as long).
"""
import argparse, json

import numpy as np

from rag_quality.semantic_eval.calibration import reliability
from rag_quality.knowledge import CampusSearch
from rag_quality.core import bundle_path
from rag_quality.data import bundled
from rag_quality.experiment import pipeline
from rag_quality.retrieval.fusion import hybrid_of
from rag_quality.korean import content_morphemes
from rag_quality.metrics import evaluate, interval
from rag_quality.query_expansion import FeedbackIndex, compose_article, composer, feedback_terms, hyde_stage, multi_query_stage, synonym_stage
from rag_quality.relevance import RelevanceScorer
from rag_quality.query_expansion.fusion import rerank
from rag_quality.retrieval import BM25Index, VectorStore

import kept

KOREAN = {"colloquial": "구어", "formal": "문어"}

def measured(part, queries, ways) -> dict:
    "Rows 'register, way' with nDCG@10, its interval, R@10 and n."
    out = {}
    for register, name in KOREAN.items():
        asked = [q for q in queries if q.metadata["register"] == register]
        units = {q.query_id: q.metadata["pair"] for q in asked}
        for way, search in ways.items():
            run = {q.query_id: dict(search(q.text)) for q in asked}
            scores = evaluate({q.query_id: part.qrels[q.query_id] for q in asked}, run, "nDCG@10 R@10", units=units)
            i = interval(scores, "nDCG@10")
            out[f"{name}, {way}"] = {"nDCG@10": i.mean, "95 %": [i.low, i.high], "R@10": scores.mean("R@10"), "n": len(asked)}
    return out

def expansion(part, queries):
    bm25, store = BM25Index(part.passages), VectorStore(part.passages)
    rm3, compose = FeedbackIndex(part.passages, bm25), composer(bm25, store.passages)
    def made(q): return store.encoder.encode([compose_article(q, bm25.search(q, 5), store.passages, bm25).text or ""])[0]
    return measured(part, queries, {
        "BM25": lambda q: bm25.search(q, 10),
        "동의어(묻는 것)": lambda q: synonym_stage(q, bm25, k=10).hits,
        "RM3": lambda q: bm25.search(feedback_terms(q, bm25.search(q, 5), rm3).bag, 10),
        "여러 질의": lambda q: multi_query_stage(q, bm25, k_each=10, k=10, passages=store.passages).hits,
        "벡터": lambda q: store.search(q, 10),
        "벡터, 지은 조문": lambda q: store.search_by_embedding(made(q), 10),
        "벡터, 질의와 지은 조문의 합": lambda q: store.search_by_embedding(store.encoder.encode([q])[0] + made(q), 10),
        "가상의 조문": lambda q: hyde_stage(q, store, k=10, compose=compose).hits})

def reranked(part, queries):
    bm25, scorer, by_id = BM25Index(part.passages), RelevanceScorer(part.passages), {p.doc_id: p for p in part.passages}
    def again(q): return {p.doc_id: s for p, s in rerank(q, [by_id[d] for d, _ in bm25.search(q, 20)], reranker=scorer)}
    return measured(part, queries, {"BM25": lambda q: bm25.search(q, 20), "다시 줄 세움": again})

def campus(part, queries):
    bm25 = BM25Index(part.passages)
    hybrid = hybrid_of(bm25, VectorStore(part.passages))
    full = CampusSearch(bm25, hybrid, part.passages)
    def without(*shares): return CampusSearch(bm25, hybrid, part.passages, store=full.store, shares=shares)
    ways = {"옛것": hybrid, "더한 것": full, "보기의 말 없이": without(.3, 0, .5, .3), "벡터 없이": without(.3, .7, 0, .3), "낱말의 옮김 없이": without(.3, .7, .5, 0)}
    return measured(part, queries, {name: lambda q, r=r: r.search(q, 100) for name, r in ways.items()})

def contexts(part, queries, system, scorer, unanswered):
    "Of each query (need, query, its other reading, five passages, a scorer, kind, do they answer): as found, and once more without the relevant articles."
    for q in queries:
        r = system.search(q.text, 30)
        hits, answer = [p for p, _ in r.hits], {d for d, g in part.qrels.get(q.query_id, {}).items() if g > 0}
        need = q.metadata["pair"]
        yield need, q.text, r.text, hits[:5], scorer, unanswered[need] or "답이 있음", bool(answer & {p.doc_id for p in hits[:5]})
        if answer: yield need, q.text, r.text, [p for p in hits if p.doc_id not in answer][:5], scorer.without(sorted(answer)), "조문을 뺌", False

def f1(refuse, should): return 2*(refuse & should).sum()/max(refuse.sum() + should.sum(), 1)

def overlap(text, hits):
    words = set(content_morphemes(text))
    return max((len(words & set(content_morphemes(p.full_text)))/max(len(words), 1) for p in hits), default=0)

def refusing(refuse, should, needs) -> dict:
    "F1 of refusing with a bootstrap interval over needs, and the share of answerable questions that are refused."
    rng, groups, draws = np.random.default_rng(0), [np.flatnonzero(needs == n) for n in np.unique(needs)], []
    for _ in range(500):
        i = np.concatenate([groups[j] for j in rng.integers(len(groups), size=len(groups))])
        draws.append(f1(refuse[i], should[i]))
    return {"거절 F1": f1(refuse, should), "95 %": [np.quantile(draws, .025), np.quantile(draws, .975)], "헛거절": refuse[~should].mean(), "n": len(should), "필요": len(groups)}

def relevance(collection, every):
    "Tables of refusal and of reliability on test; the threshold of the overlap is the best one of dev."
    unanswered = {r["need"]: r.get("unanswerable") for r in map(json.loads, bundle_path("hanbit", "needs.jsonl").read_text(encoding="utf8").splitlines())}
    system, scorer = pipeline(collection)[-1], RelevanceScorer(collection.passages)
    def rows_of(split, register, n):
        part = collection.split(split)
        return list(contexts(part, [q for q in part.some(n).queries if q.metadata["register"] == register], system, scorer, unanswered))
    dev = rows_of("dev", "formal", every)
    said, ought = np.array([overlap(text, hits) for _, text, _, hits, *_ in dev]), np.array([kind != "답이 있음" for *_, kind, _ in dev])
    threshold = max(np.unique(said.round(3)), key=lambda t: f1(said < t, ought))
    refusals, kinds_refused, curves = {}, {}, {}
    for register, n in (("formal", every), ("colloquial", 4*every)):
        rows, name = rows_of("test", register, n), KOREAN[register]
        p = np.array([s.score_context(text, hits, also=also).score for _, text, also, hits, s, *_ in rows])
        kinds, has, needs = np.array([r[5] for r in rows]), np.array([r[6] for r in rows]), np.array([r[0] for r in rows])
        should = kinds != "답이 있음"
        refusals[f"{name}, RelevanceScorer"] = refusing(p < .5, should, needs)
        if register == "formal": refusals[f"{name}, 낱말이 겹친 비율"] = refusing(np.array([overlap(text, hits) for _, text, _, hits, *_ in rows]) < threshold, should, needs)
        kinds_refused[name] = {k: {"거절한 비율": (p[kinds == k] < .5).mean(), "n": int((kinds == k).sum())} for k in sorted(set(kinds)) if k != "답이 있음"}
        r = reliability(p, has, bins=5)
        curves[name] = {"말한 확률": list(r.said), "본 비율": list(r.seen), "칸의 n": [int(x) for x in r.n], "ECE": r.ece}
    return {"거절": refusals, "갈래마다": kinds_refused, "보정": curves}

def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("--full", action="store_true", help="every need")
    ap.add_argument("--slice", action="store_true", help="every twelfth need")
    ap.add_argument("--only", default="", help="one part")
    args = ap.parse_args()
    collection = bundled()
    dev = collection.split("dev")
    asked = dev.some(12 if args.slice else 1 if args.full else 4).judged
    parts = {"expansion": lambda: expansion(dev, asked), "rerank": lambda: reranked(dev, asked), "campus": lambda: campus(dev, asked), "relevance": lambda: relevance(collection, 24 if args.slice else 1 if args.full else 2)}
    for name, part in parts.items():
        if args.only not in name: continue
        found = part()
        kept.note(**{name: found})
        for row, figures in (found.items() if name != "relevance" else found["거절"].items()):
            print(f"{name:10} {row:24} " + "  ".join(f"{k} {'[' + ', '.join(f'{x:.3f}' for x in v) + ']' if isinstance(v, list) else f'{v:.3f}' if isinstance(v, float) else v}" for k, v in figures.items()), flush=True)

if __name__ == "__main__": kept.run(main, split="dev, test", seed=0)

"""What widening a query buys on hanbit test without a language model: python benchmarks/phase_query_expansion.py [--slice]

Over BM25 of Kiwi morphemes: the names of what is asked, related morphemes, feedback (RM3), several queries, a composed article (over vectors), the
translations of single words, and the words of the bank's nearest examples; and the last one in the hybrid search. What else orders the hits is beside
them: the first twenty of BM25 in the order of the offline scorer, and the evidence of the regulation over the hybrid search. By register; wordings of
one need are one unit. Weights were chosen on dev and on other sets. What a language model's texts buy here is not measured: there are no replies for hanbit.
`--slice`: every eighth need.
"""
import argparse

from rag_quality.experiment import parse_weights
from rag_quality.knowledge.bank import shared_rewriter
from rag_quality.knowledge.synonyms import Synonyms, term_bag, weigh
from rag_quality.metrics import evaluate
from rag_quality.query_expansion import (FeedbackIndex, RegulationEvidence, composer, feedback_terms, hyde_stage, multi_query_stage, rerank,
                                         synonym_stage)
from rag_quality.relevance import RelevanceScorer
from rag_quality.retrieval import BM25Index, VectorStore
from rag_quality.retrieval.fusion import hybrid_of
from rag_quality.retrieval.fusion import MorphemeNeighbours

import changes
import kept
from phase_colloquial import part

KNOWN = 2.      # the weight of the bank's words, as in expansion.py: a share of 1 counts as two words of the query
ROWS = [("묻는 것의 이름", "BM25"), ("RM3", "BM25"), ("여러 질의", "BM25"), ("가상의 조문", "벡터"), ("이웃한 형태소", "BM25"),
        ("낱말의 옮김", "BM25"), ("은행의 말", "BM25"), ("혼합에 은행의 말", "혼합"), ("다시 줄 세움", "BM25"), ("규정의 증거", "혼합")]
CHANGED = ("여러 질의", "이웃한 형태소", "은행의 말", "혼합에 은행의 말", "다시 줄 세움", "규정의 증거")      # told for formal queries, too


def ways(passages):
    "name -> search(query) -> ten hits."
    bm25, store = BM25Index(passages), VectorStore(passages)
    rm3, near, compose = FeedbackIndex(passages, bm25), MorphemeNeighbours(passages, store.encoder), composer(bm25, store.passages)
    hybrid = hybrid_of(bm25, store, weights_for=parse_weights(None, coverage_of=bm25.coverage))
    synonyms, bank, tok = Synonyms(), shared_rewriter(), bm25.tokenizer
    scorer, evidence = RelevanceScorer(passages), RegulationEvidence(hybrid, passages)
    def again(q):
        hits = bm25.search(q, 20)
        return [(p.doc_id, s) for p, s in rerank(q, [store[d] for d, _ in hits], reranker=scorer, top_k=10)] if hits else []
    def with_bank(q):
        found = bank.suggest(q)
        own = {t: 1. for t in tok(q)}
        return own | {t: max(own.get(t, 0.), KNOWN*w) for t, w in found.bag.items()} if found else q
    return {
        "BM25": lambda q: bm25.search(q, 10),
        "벡터": lambda q: store.search(q, 10),
        "혼합": lambda q: hybrid.search(q, 10),
        "묻는 것의 이름": lambda q: synonym_stage(q, bm25, k=10).hits,
        "RM3": lambda q: bm25.search(feedback_terms(q, bm25.search(q, 5), rm3).bag, 10),
        "여러 질의": lambda q: multi_query_stage(q, bm25, k_each=10, k=10, passages=store.passages).hits,
        "가상의 조문": lambda q: hyde_stage(q, store, k=10, compose=compose).hits,
        "이웃한 형태소": lambda q: bm25.search(near.expand(q), 10),
        "낱말의 옮김": lambda q: bm25.search(term_bag(tok(q), weigh(synonyms.lookup(q)), tok), 10),
        "은행의 말": lambda q: synonym_stage(q, bm25, k=10, sources=[bank.suggest]).hits,
        "다시 줄 세움": again,
        "규정의 증거": lambda q: evidence.search(q, 10),
        "혼합에 은행의 말": lambda q: hybrid.search(q, 10, terms=with_bank(q), asked=q),
    }


def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("--slice", action="store_true", help="every eighth need")
    test = part(ap.parse_args().slice)
    found = {name: {q.query_id: dict(search(q.text)) for q in test.judged} for name, search in ways(test.passages).items()}
    units = {q.query_id: q.metadata["pair"] for q in test.judged}
    rows, moved = [], {}
    for register, korean in changes.KOREAN.items():
        ids = [q.query_id for q in test.judged if q.metadata["register"] == register]
        qrels = {q: test.qrels[q] for q in ids}
        scores = {name: evaluate(qrels, {q: run[q] for q in ids}, "nDCG@10", units=units).per_query["nDCG@10"] for name, run in found.items()}
        for after, before in ROWS:
            a, b = scores[after], scores[before]
            moved[f"{korean}, {after}"] = {"나아짐": sum(a[q] > b[q] + 1e-9 for q in ids), "나빠짐": sum(a[q] < b[q] - 1e-9 for q in ids), "n": len(ids)}
            if register == "colloquial" or after in CHANGED:
                rows.append((f"{korean}, {after}", b, a, changes.paired("nDCG@10", b, a, units)))
    table = changes.table(rows)
    changes.show(table)
    for label, m in moved.items():
        print(f"{label}: 나아짐 {m['나아짐']}, 나빠짐 {m['나빠짐']}, n {m['n']}")
    kept.note(n=len(test.judged), query_expansion=table, moved=moved)


if __name__ == "__main__":
    kept.run(main, split="test")

"""What each step of retrieval buys on a collection: python benchmarks/retrieval.py DIR [--split S] [--only ROW]

DIR is a BEIR folder (corpus.jsonl, queries.jsonl, qrels/). Rows: whitespace BM25, Kiwi morphemes, without stop morphemes,
KiwiEncoder alone, half and half, + neighbour words, then the default: neighbour words and weights that follow the register
of the query and how well its words are known (the same with the query rewritten first). Columns by register, where the
queries have one: nDCG@10, R@10, RR@10 and the number of queries whose first passage is relevant.
"""
import argparse, resource, sys, time
from pathlib import Path

from rag_quality.colloquial import ColloquialTransformer
from rag_quality.core import RagQualityError
from rag_quality.data import load_collection
from rag_quality.encoders import KiwiEncoder
from rag_quality.korean.formality import detect_formality
from rag_quality.retrieval.fusion import HybridRetriever, register_weights
from rag_quality.korean import KiwiTokenizer, whitespace_tokenizer
from rag_quality.metrics import evaluate, interval, number
from rag_quality.retrieval.fusion import MorphemeNeighbours
from rag_quality.retrieval import BM25Index, VectorStore

import kept

MEASURES = "nDCG@10 R@10 RR@10 Success@1"

def systems(passages):
    "name -> search(query, k)"
    encoder = KiwiEncoder()
    spaces, kiwi, bm25 = BM25Index(passages, whitespace_tokenizer), BM25Index(passages, KiwiTokenizer(stop=())), BM25Index(passages)
    store, near, rewrite = VectorStore(passages, encoder), MorphemeNeighbours(passages, encoder), ColloquialTransformer()
    register = lambda q: detect_formality(q).register
    hybrid = HybridRetriever(bm25, store, weights_for=register_weights(register, bm25.coverage))
    terms = lambda text, asked: near.expand(text) if register(asked) == "colloquial" else text
    return {"whitespace BM25": spaces.search, "+ Kiwi morphemes": kiwi.search, "- stop morphemes": bm25.search, "KiwiEncoder alone": store.search,
            "half and half": HybridRetriever(bm25, store).search, "+ neighbours": HybridRetriever(bm25, store, terms_for=near.expand).search,
            "default (by register)": lambda q, k: hybrid.search(q, k, terms=terms(q, q)),
            "default, rewritten": lambda q, k: (lambda t: hybrid.search(t, k, terms=terms(t, q), asked=q))(rewrite.transform(q).transformed_query)}

def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("path", type=Path)
    parser.add_argument("--split", default="all")
    parser.add_argument("--slice", action="store_true", help="every sixth need")
    parser.add_argument("--only", default="", help="only rows whose name contains this")
    args = parser.parse_args()
    start = time.perf_counter()
    try: collection = load_collection(args.path).split(args.split); collection = collection.some(6) if args.slice else collection
    except RagQualityError as e: print(e, file=sys.stderr); return 2
    if not collection.judged: print(f"판정된 질의가 없습니다: {args.path}", file=sys.stderr); return 2
    queries = collection.judged
    qrels = {q.query_id: collection.qrels[q.query_id] for q in queries}
    slices = {"all": [q.query_id for q in queries]}
    for q in queries: slices.setdefault(q.metadata.get("register", "all"), []).append(q.query_id) if "register" in q.metadata else None
    units = {q.query_id: q.metadata.get("pair", q.query_id) for q in queries}
    built = systems(collection.passages)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"{collection.name}: {len(collection.passages):,} passages, {len(queries)} queries; read and indexed in {time.perf_counter()-start:.1f} s, {memory:.2f} GB at most")
    for name, search in built.items():
        if args.only not in name: continue
        search(queries[0].text, 10); begun = time.perf_counter()
        run = {q.query_id: dict(search(q.text, 10)) for q in queries}
        ms = 1000 * (time.perf_counter() - begun) / len(queries)
        scores = evaluate(qrels, run, MEASURES, units=units)
        print(f"{name}  ({ms:.1f} ms a query)")
        for label, ids in slices.items():
            part = scores.subset(ids); i = interval(part, "nDCG@10")
            print(f"    {label:11s} nDCG@10 {number(i.mean)} [{number(i.low)}, {number(i.high)}]  R@10 {number(part.mean('R@10'))}  RR@10 {number(part.mean('RR@10'))}"
                  f"  R@1 hits {sum(v > 0 for v in part.defined('Success@1').values())}/{len(ids)}")
    print("targets: regs colloquial nDCG@10 0.26, formal 0.83; AutoRAG 45 of 53 first hits and no fewer than '+ Kiwi morphemes'")
    return 0

if __name__ == "__main__": kept.run(main, split="all")

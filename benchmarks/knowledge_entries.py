"""What each entry of synonyms.json does to a search: its gain and its harm on a collection.

usage: python benchmarks/knowledge_entries.py [FOLDER] [--split dev] [--top N] [--slice]      FOLDER: in BEIR layout; none: hanbit
For each entry (lay word -> formal term) that fires on the collection's judged queries: on how many; the mean change of their nDCG@10 when it alone is added to
plain BM25 (alone), and when it alone is left out of all (left out: what it adds to the others, with the sign turned). Sorted by harm and by gain.
It finds dead and harmful entries. A few queries say little of one entry: mend a rule of the builder where several entries fail in the same way; delete none for one query.
"""
import argparse, sys, time
from collections import defaultdict
from math import log2

from rag_quality.data import bundled, load_collection
from rag_quality.korean import KiwiTokenizer
from rag_quality.retrieval import BM25Index
from rag_quality.knowledge.synonyms import Synonyms, term_bag, weigh

import kept

def ndcg(hits, grades, k=10):
    "nDCG@k of one ranking, as ir_measures has it."
    ideal = sum(g/log2(i + 2) for i, g in enumerate(sorted(grades.values(), reverse=True)[:k]) if g > 0)
    return sum(max(grades.get(d, 0), 0)/log2(i + 2) for i, (d, _) in enumerate(hits[:k]))/ideal

def measure(collection, queries, synonyms):
    "(plain, all: nDCG@10 by query, entry -> [(query, alone, left out)], milliseconds a look-up)."
    index, tok = BM25Index(collection.passages), KiwiTokenizer(); terms_of = {}
    def tokens(term):
        if term not in terms_of: terms_of[term] = tok(term)
        return terms_of[term]
    plain, whole, by, took = {}, {}, defaultdict(list), []
    synonyms.lookup(queries[0].text)
    for q in queries:
        words, grades, start = tok(q.text), collection.qrels[q.query_id], time.perf_counter(); found = synonyms.lookup(q.text); took.append((time.perf_counter() - start)*1000)
        def score(part): return ndcg(index.search(term_bag(words, weigh(part), tokens), 10), grades)
        plain[q.query_id], whole[q.query_id] = score(()), score(found)
        for f in dict.fromkeys((f.lay, f.formal) for f in found):
            mine, others = [g for g in found if (g.lay, g.formal) == f], [g for g in found if (g.lay, g.formal) != f]
            by[f].append((q, score(mine) - plain[q.query_id], whole[q.query_id] - score(others)))
    return plain, whole, by, sorted(took)

def table(title, chosen, entries):
    print(f"\n{title}\n{'홀로':>7} {'빼면 잃는':>8} {'질의':>4} {'은행 n':>6} {'p':>5}  항목")
    for (lay, formal), cases in chosen:
        e = entries[lay, formal]; alone, left = (sum(c[i] for c in cases)/len(cases) for i in (1, 2))
        print(f"{alone:+7.3f} {left:+8.3f} {len(cases):4} {e.n:6} {e.p:5.2f}  {lay} → {formal}   ({cases[0][0].text[:30]})")

def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0]); ap.add_argument("folder", nargs="?"); ap.add_argument("--split", default="dev"); ap.add_argument("--top", type=int, default=15); ap.add_argument("--slice", action="store_true")
    args = ap.parse_args(); collection, synonyms = load_collection(args.folder) if args.folder else bundled(), Synonyms()
    judged = [q for q in collection.queries if q.metadata.get("split", args.split) == args.split and any(g > 0 for g in collection.qrels.get(q.query_id, {}).values())]
    if not judged: sys.exit(f"split {args.split!r}에 판정된 질의가 없습니다")
    spoken = [q for q in judged if not q.query_id.endswith("-f") and q.metadata.get("register") != "formal"]; written = [q for q in judged if q not in spoken]
    if args.slice: spoken, written = spoken[:30], written[:15]
    entries = {(e.lay, e.formal): e for e in synonyms.entries}; plain, whole, by, took = measure(collection, spoken, synonyms)
    mean = lambda d: sum(d.values())/len(d)
    print(f"항목 {len(entries)}, 구어 질의 {len(spoken)}: 하나라도 찾은 질의 {sum(bool(synonyms.lookup(q.text)) for q in spoken)}, 건드린 문어 질의 {sum(bool(synonyms.lookup(q.text)) for q in written)}/{len(written)}")
    print(f"nDCG@10 구어: BM25만 {mean(plain):.3f}, 모든 항목 {mean(whole):.3f} (나아짐 {sum(whole[q] > plain[q] + 1e-9 for q in plain)}, 나빠짐 {sum(whole[q] < plain[q] - 1e-9 for q in plain)}); 찾는 시간: 중앙값 {took[len(took)//2]:.2f} ms, 95 % {took[int(len(took)*.95)]:.2f} ms")
    def total(item, i): return sum(c[i] for c in item[1])
    idle = [f for f, cases in by.items() if all(abs(c[1]) < 1e-9 and abs(c[2]) < 1e-9 for c in cases)]
    print(f"불린 항목 {len(by)}, 한 번도 불리지 않은 항목 {len(entries) - len(by)}, 불렸으나 아무것도 바꾸지 않은 항목 {len(idle)}, 홀로 이로운 {sum(total(x, 1) > 1e-9 for x in by.items())} 해로운 {sum(total(x, 1) < -1e-9 for x in by.items())}, 다른 것과 함께일 때 이로운 {sum(total(x, 2) > 1e-9 for x in by.items())} 해로운 {sum(total(x, 2) < -1e-9 for x in by.items())}")
    ranked = sorted(by.items(), key=lambda x: (total(x, 1) + total(x, 2), x[0]))
    table("해로운 항목 (질의를 모두 더한 변화의 순서)", ranked[:args.top], entries); table("이로운 항목", ranked[::-1][:args.top], entries)

if __name__ == "__main__": kept.run(main, split="dev")

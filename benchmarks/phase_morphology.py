"""What expanding forms (phase 2) buys on hanbit test, over an index of words between spaces and over one of morphemes: python benchmarks/phase_morphology.py [--slice]

The query as it is asked; BM25. 'full' adds nouns, compounds and conjugated forms with shared weights, 'noun' no conjugated forms. Last: the same terms
simply written behind the query. Wordings of one need are one unit. `--slice`: every eighth need.
"""
import argparse

from rag_quality.korean import KiwiTokenizer, whitespace_tokenizer
from rag_quality.metrics import evaluate
from rag_quality.morphology import MorphologicalExpander
from rag_quality.retrieval import BM25Index

import changes
import kept
from phase_colloquial import part

NONE, NOUN, FULL, PUT = "그대로", "noun", "full", "이어 붙임"


def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("--slice", action="store_true", help="every eighth need")
    test, expander = part(ap.parse_args().slice), MorphologicalExpander()
    judged = test.judged
    qrels, units = {q.query_id: test.qrels[q.query_id] for q in judged}, {q.query_id: q.metadata["pair"] for q in judged}
    ways = {NONE: lambda q, cut: q, NOUN: lambda q, cut: expander.expand(q, "noun").bag(cut), FULL: lambda q, cut: expander.expand(q).bag(cut),
            PUT: lambda q, cut: " ".join((q, *expander.expand(q).added))}
    found = {}
    for index, cut in (("띄어쓰기", whitespace_tokenizer), ("형태소", KiwiTokenizer())):
        bm25 = BM25Index(test.passages, tokenizer=cut)
        for way, asked in ways.items():
            run = bm25.search_many({q.query_id: asked(q.text, cut) for q in judged}, 100)
            found[index, way] = evaluate(qrels, run, "nDCG@10", units=units).per_query["nDCG@10"]

    def rows(pairs):
        for register, said in changes.KOREAN.items():
            own = [q.query_id for q in judged if q.metadata["register"] == register]
            for index, b, a in pairs:
                before, after = ({q: found[index, x][q] for q in own} for x in (b, a))
                yield f"{said}, {index} 색인: {b} → {a}", before, after, changes.paired("nDCG@10", before, after, units)

    main_ = changes.table(list(rows([("띄어쓰기", NONE, FULL), ("띄어쓰기", NOUN, FULL), ("형태소", NONE, FULL)])))
    put = changes.table(list(rows([("띄어쓰기", FULL, PUT), ("형태소", NONE, PUT)])))
    for table in (main_, put):
        changes.show(table)
    kept.note(n=len(judged), morphology=main_, put_behind=put)


if __name__ == "__main__":
    kept.run(main, split="test", seed=0)

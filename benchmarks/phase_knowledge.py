"""What the bank of colloquial wordings buys on hanbit test, and on sets of other houses and fields: python benchmarks/phase_knowledge.py [DATA] [--slice]

At its place in the ladder, and as what is lost where it alone is taken out of the default pipeline. Wordings of one need are one unit.
DATA: a folder with law/ (statutes: another field), regs/ (another university), autorag/ (documents; no registers); each that is there. The shares
and thresholds of `CampusSearch` were chosen on regs, AutoRAG and hanbit dev, the bank was written without sight of any of them; hanbit test and law
were used for nothing. `--slice`: every eighth need of hanbit test.
"""
import argparse
from dataclasses import replace
from pathlib import Path

from rag_quality.data import load_collection
from rag_quality.experiment import parse_weights, pipeline, run_experiment
from rag_quality.experiment.steps import Step, System
from rag_quality.query_expansion import RegulationEvidence
from rag_quality.retrieval import BM25Index, VectorStore
from rag_quality.retrieval.fusion import hybrid_of

import changes
import kept
from phase_colloquial import part

SETS = {"law": "법령", "regs": "다른 대학", "autorag": "여러 분야의 문서"}
BEFORE, AFTER, OUT, FULL = "+ neighbours", "+ campus knowledge", "기본 구성에서 뺌", "+ regulation"
STEPS = [("사다리에서", BEFORE, AFTER), ("기본 구성에서", OUT, FULL)]


def regulation_step(passages):
    "The hybrid search with the evidence of the regulation and without the bank: what the default pipeline is for a written query."
    bm25 = BM25Index(passages)
    hybrid = hybrid_of(bm25, VectorStore(passages), weights_for=parse_weights(None, coverage_of=bm25.coverage))
    evidence = RegulationEvidence(hybrid, passages)
    def apply(s):
        hits = evidence.search(s.text, s.k, terms=s.words or s.text, weights=tuple(hybrid.weights_for(s.query)))
        return replace(s, hits=tuple(hits)), "은행 없이"
    return Step("hybrid+regulation", apply)


def measured(collection):
    "The ladder's two rows around the bank, the default pipeline without it, and the default pipeline."
    ladder = {s.name: s for s in pipeline(collection)}
    rewrite, near, _ = ladder[BEFORE].steps
    without = System(OUT, [rewrite, near, regulation_step(collection.passages)], ladder[FULL].passages)
    found = [ladder[BEFORE], ladder[AFTER], without, ladder[FULL]]
    registers = {q.metadata.get("register") for q in collection.judged} - {None}
    return run_experiment(collection, found, by="register" if registers else None, measures=("nDCG@10", "R@10")), registers


def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("data", nargs="?", type=Path, help="a folder with law/, regs/, autorag/")
    ap.add_argument("--slice", action="store_true", help="every eighth need of hanbit test")
    args = ap.parse_args()
    if args.data:
        tables, n = {}, 0
        for name, korean in SETS.items():
            if not (args.data/name/"corpus.jsonl").is_file():
                print(f"{name}: 없음")
                continue
            found, registers = measured(load_collection(args.data/name))
            n += len(found.slices["all"])
            tables |= changes.table(changes.steps(found, [(f"{korean}, {label}", b, a) for label, b, a in STEPS],
                                                  slices=changes.KOREAN if registers else {"all": "모두"}))
        changes.show(tables)
        kept.note(n=n, split="dev", knowledge=tables)
        return
    test = part(args.slice)
    found, _ = measured(test)
    rows = changes.table(changes.steps(found, STEPS, ("nDCG@10", "R@10")))
    changes.show(rows)
    kept.note(n=len(test.queries), split="test", knowledge=rows)


if __name__ == "__main__":
    kept.run(main)

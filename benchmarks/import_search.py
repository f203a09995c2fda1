"""Is search over an imported book as good as over the same articles as text? python benchmarks/import_search.py [--slice]

The regulations of hanbit are written as one book (HWPX, PDF, DOCX) and read back; the queries and judgments of hanbit dev (test is left for
what is reported elsewhere) are laid on what came in, by title. The default pipeline on both: nDCG@10, paired. A passage that did not come
back under its title is no hit: what the import loses, the figures lose. `--slice`: every eighth need, HWPX only.
"""
import argparse
import tempfile
from itertools import groupby
from pathlib import Path

from rag_quality.core import bundle_path
from rag_quality.data import bundled, load_collection, with_judgments
from rag_quality.experiment import pipeline
from rag_quality.metrics import evaluate
from rag_quality.persona.improve import run_of

import changes
import import_made
import kept


def blocks(passages):
    "The paragraphs and tables of the regulations as a book has them."
    for name, of in groupby(passages, key=lambda p: p.metadata.get("regulation", p.title)):
        yield name
        for p in of:
            label, title, run = p.metadata.get("article", ""), p.metadata.get("article_title", ""), []
            head = f"[{label}] {title}".strip() if label.startswith("별") else f"{label}({title})" if title else label
            lines = p.text.split("\n")
            if label != "서두":
                whole = label.startswith(("별", "부칙"))
                yield head if whole else f"{head} {lines[0]}"
                lines = lines if whole else lines[1:]
            for line in [*lines, ""]:
                if line.startswith("|") or " | " in line:
                    run.append([c.strip() for c in line.strip("|").split("|")])
                    continue
                rows = [r for r in run if not all(set(c) <= set("-: ") for c in r)]
                if rows:
                    yield [(r + [""]*max(map(len, rows)))[:max(map(len, rows))] for r in rows]
                run = []
                if line:
                    yield line


def scores(collection, part, asked):
    units = {q.query_id: q.metadata.get("pair", q.query_id) for q in asked}
    return evaluate({q.query_id: part.qrels[q.query_id] for q in asked}, run_of(pipeline(collection)[-1], {q.query_id: q.text for q in asked}),
                    "nDCG@10", units=units)


def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("--slice", action="store_true")
    small = ap.parse_args().slice
    text, rows = bundled(), []
    part = text.split("dev").some(8 if small else 1)
    book = list(blocks(text.passages))
    before = {r: scores(text, part, [q for q in part.judged if q.metadata["register"] == r]) for r in changes.KOREAN}
    with tempfile.TemporaryDirectory() as d:
        for kind in ("hwpx",) if small else ("hwpx", "docx", "pdf"):
            file = Path(d)/f"book.{kind}"
            file.write_bytes(getattr(import_made, kind)(book))
            read = with_judgments(load_collection(file), bundle_path("hanbit"))
            titles = {p.title for p in read.passages}
            found = sum(p.title in titles for p in text.passages)
            print(f"{kind}: 단위 {len(text.passages)}개 가운데 같은 이름으로 들어온 것 {found}개 (모두 {len(read.passages)}개)")
            there = read.split("dev")
            for register, korean in changes.KOREAN.items():
                asked = [q for q in part.judged if q.metadata["register"] == register]
                after = scores(read, there, asked)
                rows.append((f"{kind}, {korean}", before[register].per_query["nDCG@10"], after.per_query["nDCG@10"],
                             changes.compare(before[register], after, "nDCG@10")))
    table = changes.table(rows)
    changes.show(table)
    kept.note(n=sum(r["n"] for r in table.values()), imported=table)


if __name__ == "__main__":
    kept.run(main, split="dev", seed=0)

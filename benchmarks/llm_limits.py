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
import argparse, atexit, io, json, os, random, re, shutil, subprocess, sys, tempfile, time
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"): os.environ.pop(name, None)
ROOM = Path(tempfile.mkdtemp(prefix="llm_limits_")); os.environ["RAG_QUALITY_CACHE"] = str(ROOM/"cache")
atexit.register(shutil.rmtree, ROOM, ignore_errors=True)

from rag_quality.answering import LLMAnswerer
from rag_quality.core import Passage
from rag_quality.data import mini
from rag_quality.experiment.audition import audition
from rag_quality.faithfulness import FaithfulnessValidator
from rag_quality.grading import grade_documents
from rag_quality.judge import LLMJudge
from rag_quality.llm import LLMService
from rag_quality.llm.testing import fake_llm
from rag_quality.persona.quality import QualityEvaluator
from rag_quality.query_expansion import expansion_texts

import kept

WINDOW, LONG, CLAIMS = 4096, 20_000, 200

def long_material():
    "(question, three passages of 20,000 characters, an answer of 200 claims) of the bundled articles."
    text = " ".join(p.text for p in mini().passages).replace("\n", " ")
    passages = [Passage(f"P{i}", (text[1000*i:] + " " + text*3)[:LONG], f"긴 규정 제{i + 1}조(긴 조)") for i in range(3)]
    answer = " ".join(f"휴학 신청은 {i}일 안에 하여야 한다." for i in range(1, CLAIMS + 1))
    return "휴학은 언제까지 신청하나요?", passages, answer

def said_for(asked):
    "A plausible reply to whatever the roles ask."
    quote = "휴학"
    if '"binaryScore"' in asked: return {"binaryScore": "yes", "reasoning": "질문의 휴학을 정한 조문이다"}
    if '"claims"' in asked:
        n = [int(x) for x in re.findall(r"주장 (\d+)", asked)] or [1]
        return {"claims": [{"n": i, "verdict": "unsupported", "quote": "", "reason": f"{i}일이라는 말이 조문에 없다"} for i in sorted(set(n))]}
    if '"queries"' in asked: return {"queries": ["휴학 신청 기한", "휴학원 제출 절차"]}
    if '"document"' in asked: return {"document": "휴학하려는 학생은 정해진 기간에 휴학원을 제출하여야 한다."}
    return {"answer": quote}

def windows():
    query, passages, answer = long_material(); texts = [p.text for p in passages]
    def left(x): return bool(x)
    def role_answer(llm):
        a = LLMAnswerer(llm).answer(query, passages); return str(a.metadata.get("left_out", "")) if hasattr(a, "metadata") else str(getattr(a, "details", a))
    roles = {
        "expand": lambda llm: (expansion_texts(query*150, llm), "빼지 않음")[1],
        "grade": lambda llm: " ".join(g.reason for g in grade_documents(query, passages, llm=llm).grades),
        "verify": lambda llm: FaithfulnessValidator(llm=llm).validate_answer(answer, texts).note,
        "judge": lambda llm: " ".join(f.reason for f in LLMJudge(llm).judge(query, answer, texts, answer, [answer[:3000]]*5).flags),
        "answer": role_answer,
        "session's judge": lambda llm: str(QualityEvaluator(llm).evaluate(query, __import__("rag_quality.answering", fromlist=["Answer"]).Answer(answer, 0., (), tuple(texts), {}), None, texts).evidence.get("left_out", ""))}
    ok = True
    for name, run in roles.items():
        with fake_llm("openai", said_for, context=WINDOW) as server:
            llm = LLMService(server.model, base_url=server.base_url, cache=False)
            try: told = run(llm)
            except Exception as e: told = f"!! {type(e).__name__}: {e}"
            good = server.refused == 0 and server.calls > 0 and server.largest <= WINDOW and (name == "expand" or re.search(r"창", told) is not None)
            ok &= good; print(f"  {name:16} questions {server.calls:3}, largest {server.largest} tokens, over the window {server.refused}; told: {re.sub(r'[0-9.,]+', 'N', told[:110])!r} {'ok' if good else '!!'}", flush=True)
    return ok

if __name__ == "__main__" and len(sys.argv) > 1 and sys.argv[1] == "windows": print(windows())

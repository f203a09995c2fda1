"""Batches of LLM verdicts: speed, a second run, a server that dies half-way.

usage: python benchmarks/judging.py [--slice]
Everything runs against a test server on 127.0.0.1 that answers after 200 ms; texts are made up here.
"""
import argparse, os, tempfile, time, zlib
from pathlib import Path

from rag_quality.judge import LLMJudge
from rag_quality.judge.batch import judge_many
from rag_quality.llm import LLMService
from rag_quality.llm.testing import fake_llm, socket_guard

import kept

TOPICS = "휴학 복학 전과 재수강 수강신청 장학금 등록금 졸업 기숙사 증명서 계절학기 교환학생 도서관 실험실 동아리 학생증 성적이의 조기졸업 복수전공 현장실습".split()


def items(n):
    "n different answers, each with two passages; every third names a wrong number."
    for i in range(n):
        topic, days = TOPICS[i % len(TOPICS)], 5 + i // len(TOPICS)
        said = days + (i % 3 == 0)
        yield {"_id": f"q{i}", "query": f"{topic} 신청은 언제까지 어디에 하나요? (문의 {i}번)", "answer": f"{topic} 신청서는 학기 시작 후 {said}일 이내에 소속 학과에 내야 합니다. 학과장이 확인하면 담당 부서가 결과를 알려 줍니다 ({topic} 규정 제3조).",
               "contexts": [f"{topic} 규정 제3조(신청)\n① {topic}을 신청하려는 학생은 학기 개시일부터 {days}일 이내에 신청서를 소속 학과에 제출하여야 한다.\n② 학과장은 신청 내용을 확인하여 담당 부서에 보낸다.",
                            f"{topic} 규정 제7조(통보)\n담당 부서의 장은 심사 결과를 신청인에게 통보하여야 한다."], "key_facts": [f"학기 개시일부터 {days}일 이내 신청", "소속 학과에 신청서 제출"]}


def verdict(prompt):
    "Two verdicts in five are 1.0 throughout: those are looked at once more by the judge (may_contradict)."
    kind = zlib.crc32(prompt.encode())      # a judge that says the same of every answer is not believed
    topic = next((t for t in TOPICS if t in prompt), "")
    one = {"evidence": ["소속 학과에 내야 합니다"], "reason": f"{topic}의 기한을 조문과 견주었습니다({kind % 97}일째).", "score": (1., .75, 1., .5, .75)[kind % 5]}
    return {"correctness": one, "completeness": one, "citation_accuracy": one}


def judge_at(server, concurrency):
    return LLMJudge(LLMService(server.model, base_url=server.base_url, max_concurrency=concurrency, max_retries=0, timeout_s=10))


def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("--slice", action="store_true", help="a tenth of each, for CI: no figure is compared with its target")
    small = ap.parse_args().slice
    n, half = (50, 20) if small else (500, 200)
    os.environ["OPENAI_API_KEY"] = "test-key"
    failed = 0
    def check(ok): nonlocal failed; failed += not ok; return "" if ok else "  MISSED"
    with tempfile.TemporaryDirectory() as folder, socket_guard():
        os.environ["RAG_QUALITY_CACHE"] = str(Path(folder)/"cache"); rows = list(items(n))
        with fake_llm(reply=verdict, delay_s=.2) as server:
            judge_many([{**r, "query": "준비"} for r in list(items(3))], judge_at(server, 16), out=Path(folder)/"warm.jsonl"); LLMJudge().judge(**{k: v for k, v in rows[0].items() if k != "_id"})   # imports, Kiwi, lexica
            before, t = server.calls, time.perf_counter()
            run = judge_many(rows, judge_at(server, 16), out=Path(folder)/"j.jsonl", concurrency=16)
            took = time.perf_counter() - t
            print(f"{n} judgments, 200 ms server, concurrency 16: {took:.2f} s, coverage {run.coverage:.3f}, calls {server.calls - before}  (target 10 s){check(small or took < 10 and run.coverage == 1)}")
            before, t = server.calls, time.perf_counter()
            again = judge_many(rows, judge_at(server, 16), out=Path(folder)/"j.jsonl", concurrency=16)
            print(f"second run: {server.calls - before} calls, {time.perf_counter() - t:.2f} s, coverage {again.coverage:.3f}  (target 0 calls){check(server.calls == before and again.coverage == 1)}")
            cached = judge_many(rows, judge_at(server, 16), out=Path(folder)/"other.jsonl", concurrency=16)
            print(f"another output file: {server.calls - before} calls: the replies are cached  (target 0 calls){check(server.calls == before and cached.coverage == 1)}")
        os.environ["RAG_QUALITY_CACHE"] = str(Path(folder)/"cache2"); rows = rows[:half]; out = Path(folder)/"killed.jsonl"
        with fake_llm(reply=verdict, delay_s=.2, kill_after=half // 2) as server:
            cut = judge_many(rows, judge_at(server, 8), out=out, concurrency=8); answered = server.answered
        done = {i for i, j in zip(cut.judgments.ids, cut.judgments) if not j.error}
        print(f"server killed after {half // 2} of {half}: coverage {cut.coverage:.3f}, answered {answered}, {cut.n_unasked} not asked, stopped: {(cut.stopped or '').split(':')[0]}  (target 0.5){check(abs(cut.coverage - .5) < .01)}")
        with fake_llm(reply=verdict, delay_s=.2) as server:
            rest = judge_many(rows, judge_at(server, 8), out=out, concurrency=8)
            repeated = sum(r["_id"] in done and any(r["query"] in p for p in server.asked) for r in rows)
            print(f"next run: coverage {rest.coverage:.3f}, calls {server.calls}, of them for answers judged before: {repeated}  (target 1.0, 0){check(rest.coverage == 1 and not repeated and server.calls == half - len(done))}")
    return 1 if failed else 0


if __name__ == "__main__": kept.run(main)

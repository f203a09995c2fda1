"""What becomes of a question when the language model misbehaves: every protocol, every fault, the interrupted batch, the throughput.

usage: python benchmarks/llm_faults.py [--slice]
Targets: each fault ends in the right answer or the typed error that belongs to it within its time limit, with no call too many; a batch of
200 whose server dies half-way keeps its first half (coverage 0.5) and finishes with no repeated call; 500 judgments against a 200 ms server
at concurrency 16 in under 10 s, and a second run makes no call. Everything runs inside `socket_guard`: 127.0.0.1 only.
Exit code 1 where one is missed. `--slice`: fewer protocols and questions, a few seconds.
"""
import argparse, atexit, os, shutil, tempfile, time

for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"): os.environ.pop(name, None)
os.environ["RAG_QUALITY_CACHE"] = tempfile.mkdtemp(prefix="llm_faults_")
atexit.register(shutil.rmtree, os.environ["RAG_QUALITY_CACHE"], ignore_errors=True)

from rag_quality.core import MissingExtra
from rag_quality.llm import LLMError, LLMService, coverage
from rag_quality.llm.call import litellm_ready
from rag_quality.llm.testing import fake_llm, socket_guard

import kept

SCHEMA = {"type": "object", "required": ["score", "reason"], "additionalProperties": False,
          "properties": {"score": {"type": "number", "minimum": 0, "maximum": 1}, "reason": {"type": "string", "minLength": 1}}}
GOOD = {"score": 0.75, "reason": "근거 조문이 있다"}
LIMIT = 2.0        # seconds a question may take: timeout_s
RIGHT = "right"    # outcomes: the right answer, or the name of an error
# name -> (faults, what must come, how many calls at most, options)
CASES = {
    "refused": ("refused", "LLMUnavailable", 0, {}),
    "hangs": ("hang", "LLMTimeout", 1, {}),
    "trickles": ("trickle", "LLMTimeout", 1, {}),
    "429 then fine": (["429"], RIGHT, 2, dict(retry_after=.5)),
    "429 for ever": ("429", "LLMRateLimited", 3, dict(retry_after=.2)),
    "429, a minute": ("429", "LLMRateLimited", 1, dict(retry_after=60)),
    "500 twice then fine": (["500", "500"], RIGHT, 3, {}),
    "500 for ever": ("500", "LLMUnavailable", 3, {}),
    "cut body": ("cut", "LLMUnavailable", 3, {}),
    "cut once": (["cut"], RIGHT, 2, {}),
    "reset": ("reset", "LLMUnavailable", 3, {}),
    "HTML body": ("html", "LLMBadReply", 3, {}),
    "fenced JSON": ("fenced", RIGHT, 1, {}),
    "broken JSON": (["broken"], RIGHT, 2, {}),
    "wrong schema": ("wrong_schema", "LLMSchemaError", 2, {}),
    "wrong schema once": (["wrong_schema"], RIGHT, 2, {}),
    "empty text": ("empty", "LLMBadReply", 3, {}),
    "401": ("401", "LLMAuthError", 1, {}),
    "400": ("400", "LLMRejected", 2, {}),
    "404": ("404", "LLMUnavailable", 1, {}),
}
PROTOCOLS = ("openai", "ollama", "gemini", "anthropic")

SLICE = ("refused", "hangs", "429 then fine", "500 twice then fine", "cut once", "HTML body", "fenced JSON", "wrong schema", "empty text", "401")

def one(protocol, name, limit):
    "One cell of the table: (outcome, seconds, calls, why it is wrong or '')."
    faults, expected, most, options = CASES[name]
    with fake_llm(protocol, GOOD, faults, **options) as server:
        llm, begun = LLMService(server.model, base_url=server.base_url, timeout_s=limit, cache=False), time.perf_counter()
        try: got = llm.ask_json("이 답을 채점하세요.", SCHEMA); outcome = RIGHT if got == GOOD else f"wrong: {dict(got)}"
        except LLMError as e: outcome = type(e).__name__
        except BaseException as e: outcome = f"untyped {type(e).__name__}"
        took, calls = time.perf_counter() - begun, server.calls
    bad = [w for w, no in ((f"expected {expected}", outcome != expected), (f"over {limit} s", took > limit + .3), (f"more than {most} calls", calls > most)) if no]
    return outcome, took, calls, "; ".join(bad)

def faults(protocols, names=tuple(CASES), limit=LIMIT):
    print(f"{'fault':20} " + " ".join(f"{p:>28}" for p in protocols))
    bad = n = 0
    for name in names:
        cells = [one(p, name, limit) for p in protocols]
        print(f"{name:20} " + " ".join(f"{o:>16} {s:5.2f}s {c}calls" for o, s, c, _ in cells), *[f"  !! {p}: {w}" for p, (_, _, _, w) in zip(protocols, cells) if w])
        bad += sum(bool(c[3]) for c in cells); n += len(cells)
    print(f"faults: {n - bad} of {n} end as they must (target: all)")
    return bad == 0

def interrupted(protocol, n):
    "The server dies after half of the answers; then it is back."
    questions, kept = [f"{protocol} {k}번 답을 채점하세요." for k in range(n)], []
    with fake_llm(protocol, GOOD, kill_after=n // 2) as server:
        llm, begun = LLMService(server.model, base_url=server.base_url, timeout_s=LIMIT), time.perf_counter()
        first = llm.ask_many(questions, schema=SCHEMA, on_reply=lambda k, r: kept.append((k, r)))
        took, answered = time.perf_counter() - begun, server.answered
    with fake_llm(protocol, GOOD) as server:
        second = LLMService(server.model, base_url=server.base_url).ask_many(questions, schema=SCHEMA)
        again = server.calls
    kinds = sorted({type(r).__name__ for r in first if isinstance(r, LLMError)})
    good = sum(not isinstance(r, LLMError) for _, r in kept)
    ok = coverage(first) == .5 and good == n // 2 and coverage(second) == 1 and again == n - n // 2 and all(k.startswith("LLM") for k in kinds) and len(kept) == n
    print(f"batch of {n}, killed half-way ({protocol}): coverage {coverage(first)} ({answered} answered, {', '.join(kinds)}) in {took:.1f} s; next run: coverage {coverage(second)}, {again} calls, {again - (n - n // 2)} repeated (target: 0.5, then 1.0 with none) {'ok' if ok else '!!'}")
    return ok

def throughput(protocol, n, limit):
    questions = [f"{protocol} 처리량 {k}번 답을 채점하세요." for k in range(n)]
    with fake_llm(protocol, GOOD, delay_s=.2) as server:
        times, calls = [], []
        for _ in range(2):
            llm, begun = LLMService(server.model, base_url=server.base_url, max_concurrency=16), time.perf_counter()
            got = llm.ask_many(questions, schema=SCHEMA)
            times.append(time.perf_counter() - begun); calls.append(server.calls)
    ok = coverage(got) == 1 and calls == [n, n] and times[0] < limit
    print(f"{n} judgments, 200 ms server, concurrency 16 ({protocol}): {times[0]:.2f} s (target: < {limit:g}; no better than {n / 16 * .2:.2f}); second run {times[1]:.2f} s, {calls[1] - calls[0]} calls (target: 0) {'ok' if ok else '!!'}")
    return ok

def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("--slice", action="store_true")
    args = ap.parse_args()
    try: litellm_ready()
    except MissingExtra as e: print(e); return 2
    with socket_guard() as tried:
        ok = [faults(PROTOCOLS[:1], SLICE, 1.2) if args.slice else faults(PROTOCOLS)]
        ok += [interrupted(p, 40 if args.slice else 200) for p in (PROTOCOLS[1:2] if args.slice else PROTOCOLS)]
        ok += [throughput(p, 64 if args.slice else 500, 3 if args.slice else 10) for p in (PROTOCOLS[:1] if args.slice else PROTOCOLS)]
        print(f"reached beyond 127.0.0.1: {len(tried)} times (target: 0)")
    return 0 if all(ok) and not tried else 1

if __name__ == "__main__": kept.run(main)

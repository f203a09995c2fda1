"""Does a test session survive what it tests, and its own death? Endpoints with faults, kill -9 at random moments, two sessions at once.

usage: python benchmarks/persona_endpoints.py [--slice]
Targets: every fault of a chat endpoint (whole, streamed) and of a JSON endpoint ends within its bound with the kind that belongs to it, and no key
is recorded; what passes by is answered after a retry; a dead endpoint does not cost its timeout for every question; of at least 20 sessions killed
with SIGKILL every row that was reported as written is there, and going on ends in the bytes of the session that was not killed; two processes on one
id end in two whole sessions; no personal number is seen in the bundled queries and articles, where there is none. Exit code 1 where one is missed. Runs on
127.0.0.1 only. `--slice`: fewer kills, a few seconds.
"""
import argparse, json, logging, os, random, signal, subprocess, sys, tempfile, time
from collections import Counter
from pathlib import Path

for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"): os.environ.pop(name, None)

from rag_quality.answering.answers import Answer
from rag_quality.core import ConfigError
from rag_quality.persona.testing import ENDPOINT_FAULTS, fake_endpoint
from rag_quality.persona.personas import Exchange
from rag_quality.persona.store import SessionStore, mask_personal, same_but_times
from rag_quality.persona.store import read_rows
from rag_quality.persona.targets import ChatTarget, HTTPTarget, ask, ask_many
from rag_quality.llm.testing import socket_guard

import kept

LIMIT, SLACK = 1.0, .6          # seconds a question may take, and what the machine may add
KEY = "hb-secret-0123456789abcdef"
SAID = "휴학은 개강 후 14일 이내에 신청합니다 [학칙 제23조]."
# fault -> (kind, calls at most with one retry)
KINDS = {"refused": ("unreachable", 2), "reset": ("cut", 2), "cut": ("cut", 2), "400": ("status", 1), "401": ("auth", 1), "403": ("auth", 1), "404": ("status", 1), "429": ("rate_limited", 2), "500": ("status", 2), "503": ("status", 2),
         "redirect": ("status", 1), "empty": ("empty", 1), "empty_body": ("empty", 1),
         **dict.fromkeys(("slow", "hang", "hang_headers", "drip", "header_drip"), ("timeout", 1)), **dict.fromkeys(("html", "not_json", "not_http", "wrong_schema", "huge"), ("malformed", 1)), "error_body": ("status", 1)}
PASSING = (["500", "503"], ["429"], ["cut"], ["reset"], ["503", "reset"])
FORMS = ("chat", "stream", "json")

def server_of(form, faults, **options):
    return fake_endpoint("json" if form == "json" else "chat", SAID, faults, stream=form == "stream", sources=[{"title": "학칙 제23조", "content": "휴학은 개강 후 14일 이내에 신청한다."}], **options)

def target_of(form, server):
    if form == "json": return HTTPTarget({"name": "bot", "url": server.url, "headers": {"Authorization": "Bearer ${PERSONA_BOT_KEY}"}, "request": {"q": "{{query}}", "history": "{{history}}"}, "response": {"answer": "data.result[0].text", "contexts": "sources[]"}})
    return ChatTarget(server.base_url, "m", key_env="PERSONA_BOT_KEY", stream=form == "stream", name="bot")

def faults():
    good = n = 0
    for form in FORMS:
        for fault in ENDPOINT_FAULTS:
            kind, most = KINDS[fault]
            if form == "json" and fault == "error_body": kind = "malformed"              # its mapping names no place for errors
            with server_of(form, fault, api_key=None) as server:
                begun = time.perf_counter(); e = ask(target_of(form, server), "휴학 언제까지예요?", [{"user": "안녕", "assistant": "네"}], id="q", timeout_s=LIMIT, retries=1, wait_s=.02); took = time.perf_counter() - begun
            bad = [w for w, no in ((f"expected {kind}, got {e.error and e.error.kind}", not e.error or e.error.kind != kind), (f"{took:.2f} s", took > LIMIT + SLACK), (f"{e.attempts} calls", e.attempts > most), ("the key is recorded", KEY in json.dumps(e.to_dict()))) if no]
            good += not bad; n += 1
            if bad: print(f"  !! {form} {fault}: {'; '.join(bad)}")
    print(f"faults: {good}/{n} end within {LIMIT:g} s with the right kind and without the key (target: all; {len(ENDPOINT_FAULTS)} faults, {', '.join(FORMS)})")
    return good == n

def passing():
    good = n = 0
    for form in FORMS:
        for faults in PASSING:
            with server_of(form, faults, api_key=KEY, retry_after=.02) as server: e = ask(target_of(form, server), "휴학 언제까지예요?", id="q", wait_s=.02)
            ok = e.answer is not None and e.answer.content == SAID and e.attempts == len(faults) + 1 and len(e.answer.contexts) == 1; good += ok; n += 1
            if not ok: print(f"  !! {form} {faults}: {e}")
    print(f"passing faults: {good}/{n} answered after a retry (target: all)")
    return good == n

def mixed(count, seed=0):
    "Questions to an endpoint that fails every third time in its own way; all are recorded, in order."
    rng = random.Random(f"{seed}:mixed"); quick = [f for f in ENDPOINT_FAULTS if f not in ("refused", "slow", "hang", "hang_headers", "drip", "header_drip", "huge")]
    sent = [rng.choice(quick) if rng.random() < .33 else "" for _ in range(count)]
    with server_of("chat", sent) as server: got = ask_many(target_of("chat", server), [(f"q-{k}", f"{k}번 질문입니다") for k in range(count)], retries=0, timeout_s=5, concurrency=1, breaker=None)
    wrong = [(f, e.error and e.error.kind) for f, e in zip(sent, got) if (e.error and e.error.kind) != (KINDS[f][0] if f else None)]
    print(f"mixed: {count - len(wrong)}/{count} recorded as they were ({dict(sorted(Counter(e.error.kind if e.error else 'answer' for e in got).items()))}) {wrong[:3] or ''}")
    return not wrong

def dead(count):
    with server_of("chat", "hang") as server:
        begun = time.perf_counter(); got = ask_many(target_of("chat", server), [(f"q-{k}", "계세요?") for k in range(count)], timeout_s=.5, retries=2); took = time.perf_counter() - begun
    asked, bound = sum(e.attempts for e in got), count * .5 / 4
    ok = all(e.error for e in got) and took < bound / 2 + 1 and len(got) == count
    print(f"dead endpoint: {count} questions, {asked} sent, {took:.1f} s (waiting for each: {bound:.1f} s) {'ok' if ok else '!!'}")
    return ok

# ---- kill -9

CONFIG = {"collection": {"name": "bench", "hash": "0", "n_passages": 1}, "target": {"name": "own", "kind": "own"}, "personas": ["freshman"], "queries_per_persona": 3, "turns": 5, "seed": 0}
BIG = "개강 후 14일 이내에 신청합니다. " * 2000                     # rows long enough to be torn

def child(folder, pause, new):
    "One session: answers, then dialogues through `recorded`; says what is on the disk."
    say = lambda *a: print(*a, flush=True)
    def bot(target, query, history=(), *, id, **options): time.sleep(pause); return Exchange(id, query, Answer(f"{len(history)}: {BIG}{query[:20]}", 0.), elapsed_s=time.perf_counter())
    store = SessionStore.open(folder) if not new and (Path(folder) / "session.json").exists() else SessionStore.create(folder, CONFIG)
    with store:
        say("began", store.folder)
        done = store.done("answers")
        for n in range(25):
            if (id := f"q-{n}") not in done: store.append("answers", bot(None, f"{n}번 질문 010-1234-{n:04}", id=id).to_dict()); say("answers", id)
        ask_again = store.recorded(lambda *a, id, **k: (e := bot(*a, id=id, **k), say("asked", id))[0])
        for s in range(4):
            history, q, rows = [], f"{s}번 대화", []
            for t in range(1, 6):
                e = ask_again(None, q, history, id=f"s-{s}-t{t}"); say("exchanges", e.id)
                rows.append({"id": e.id, "scenario": f"s-{s}", "turn": t, **e.to_dict()}); history = [*history, {"user": q, "assistant": e.answer.content}]; q = f"{e.answer.content[-20:]} 다음은?"
            if f"s-{s}-t5" not in store.done("turns"): store.append("turns", *rows); say("turns", f"s-{s}-t5")
        store.finish(); say("finished")

def start(folder, pause=.002, *more): return subprocess.Popen([sys.executable, __file__, "--child", str(folder), "--pause", str(pause), *more], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)

def tear(folder, rng):
    "As if the power had failed in the middle of the last write: the end of the last row is gone. The row's (name, id)."
    path = max(folder.glob("*.jsonl"), key=lambda p: p.stat().st_mtime_ns, default=None)
    if path is None or not (raw := path.read_bytes()).endswith(b"\n"): return None
    start = raw.rfind(b"\n", 0, len(raw) - 1) + 1; os.truncate(path, rng.randint(start + 1, len(raw) - 2))
    return path.stem, json.loads(raw[start:])["id"]

def kills(count, root, seed=0):
    rng = random.Random(f"{seed}:kills"); whole = root / "whole"; p = start(whole, 0); p.communicate(); assert p.returncode == 0
    killed = lost = unread = same = sessions = torn = again = 0
    while killed < count:
        folder, sessions, acknowledged, asked = root / f"killed-{sessions}", sessions + 1, set(), Counter()
        for _ in range(5 if killed < count else 0):                   # up to four deaths a session, then to its end
            p, last = start(folder), _ == 4 or killed >= count
            stop_after = None if last else rng.randint(1, 30); n = 0
            def heard(line):
                name, *rest = line.split()
                if name == "asked": asked[rest[0]] += 1
                elif name in ("answers", "exchanges", "turns"): acknowledged.add((name, rest[0]))
            for line in p.stdout:
                heard(line); n += 1
                if stop_after and n > stop_after: time.sleep(rng.random() * .02); os.kill(p.pid, signal.SIGKILL); break
            for line in p.stdout: heard(line)                         # what it had still said
            if p.wait() != -signal.SIGKILL or SessionStore(folder).session["status"] == "finished": break      # it was faster than we
            killed += 1; gone = tear(folder, rng) if killed % 2 else None; torn += gone is not None; acknowledged.discard(gone)
            if gone and gone[0] == "exchanges": asked[gone[1]] -= 1
            try:
                on_disk = {(k, r["id"]) for k in ("answers", "exchanges", "turns") for r in read_rows(folder / f"{k}.jsonl")}
                lost += len({a for a in acknowledged if a not in on_disk}); status = SessionStore(folder).session["status"]
                unread += status != "interrupted"
            except Exception as e: unread += 1; print("  !!", type(e).__name__, e)
        p.wait(); again += sum(v - 1 for v in asked.values()); found = same_but_times(whole, folder); same += not found
        if found: print("  !!", found[:2])
    print(f"kill -9: {killed} deaths in {sessions} sessions ({torn} of them with the last row torn by hand): {lost} other acknowledged rows lost, {unread} unreadable, {again} questions asked twice (at most one a death); {same}/{sessions} end in the bytes of the session that was not killed (target: 0, 0, all)")
    return not lost and not unread and same == sessions and again <= killed

def parallel(root):
    processes = [start(root / "both", .002, "--new") for _ in range(2)]
    for p in processes: p.communicate()
    folders = sorted(p for p in root.glob("both*")); diff = same_but_times(*folders) if len(folders) == 2 else ["not two folders"]
    whole = [len(SessionStore(f).rows("answers")) == 25 and len(SessionStore(f).rows("turns")) == 20 and SessionStore(f).session["status"] == "finished" for f in folders]
    print(f"two processes on one id: {[f.name for f in folders]}, whole: {sum(whole)}/2, differences: {len(diff)}")
    refused = 0
    live = SessionStore.create(root / "live", CONFIG)
    p = start(root / "live"); out = p.communicate()[0]; refused = p.returncode != 0 and "finished" not in out; live.close()
    print(f"going on with a session that is being written: {'refused' if refused else '!! allowed'}")
    return len(folders) == 2 and all(whole) and not diff and refused

def masking():
    from rag_quality.data import bundled
    c = bundled(); texts = {"queries": [q.text for q in c.queries], "articles": [p.full_text for p in c.passages]}
    hit = {k: [t for t in v if mask_personal(t) != t] for k, v in texts.items()}
    print(f"masking: {', '.join(f'{len(hit[k])} of {len(v)} bundled {k}' for k, v in texts.items())} touched (target: 0) {[t[:40] for v in hit.values() for t in v][:3] or ''}")
    return not any(hit.values())

def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("--slice", action="store_true"); ap.add_argument("--new", action="store_true"); ap.add_argument("--child"); ap.add_argument("--pause", type=float, default=.002)
    args = ap.parse_args()
    if args.child:
        try: child(args.child, args.pause, args.new); return 0
        except ConfigError as e: print("refused", e); return 3
    os.environ["PERSONA_BOT_KEY"] = KEY; logging.getLogger("rag_quality").setLevel("ERROR")      # it says which lines are torn
    with socket_guard() as tried, tempfile.TemporaryDirectory() as d:
        ok = [faults(), passing(), mixed(30 if args.slice else 90), dead(24 if args.slice else 60), kills(6 if args.slice else 24, Path(d)), parallel(Path(d)), masking()]
        print(f"reached beyond 127.0.0.1: {len(tried)} times (target: 0)")
    return 0 if all(ok) and not tried else 1

if __name__ == "__main__":
    # a child is a part of the run that started it, and keeps nothing
    sys.exit(main()) if "--child" in sys.argv else kept.run(main, seed=0)

"""`rag-quality serve` under load and abuse, over real sockets: python benchmarks/serve.py [--slice]

A server of its own process over the bundled book. Streams: 200 people at a time ask for a minute (--slice: 20 for 5 s); a stream is broken where
it does not end with [DONE], brings no verdicts, or its pieces are not the answer that the same question gets without streaming. Memory: of the server,
after a third of the time and at the end. Leaving: clients that go away while they wait; how many places are taken a second later. Malformed: 1,000
requests made from a seed (no JSON, other encodings, wrong types, deep, huge, NUL, half surrogates, broken HTTP): none may be answered by 5xx, and the
server's own output may hold no traceback. Token: a second server with one; requests without it, over every address, method and kind of header.
"""
import argparse, asyncio, json, os, random, re, subprocess, sys, tempfile, time

import psutil

from rag_quality.core import log
from rag_quality.data import bundled
from rag_quality.experiment import measurable

import kept

ASK = "/v1/chat/completions"
TOKEN = "only-for-this-run-83f1"

class Server:
    "`rag-quality serve` in its own process; `said` is what it has written."
    def __init__(self, *options, **env):
        self.output = tempfile.TemporaryFile()       # no pipe: nobody reads it meanwhile
        self.process = subprocess.Popen(
            [sys.executable, "-m", "rag_quality", "serve", "--port", "0", *options], stdout=self.output, stderr=subprocess.STDOUT,
            env={k: v for k, v in os.environ.items() if k != "RAG_QUALITY_STRICT"} | {"PYTHONUNBUFFERED": "1"} | env)
        while not (m := re.search(r"http://127\.0\.0\.1:(\d+)", self.said)):
            if self.process.poll() is not None: raise SystemExit(f"the server did not start:\n{self.said}")
            time.sleep(.2)
        self.port, self.memory = int(m[1]), psutil.Process(self.process.pid).memory_info
    @property
    def said(self):
        "What it has written so far."
        size = os.fstat(self.output.fileno()).st_size
        return os.pread(self.output.fileno(), size, 0).decode("utf8", "replace")
    def stop(self):
        self.process.terminate()
        self.process.wait(timeout=60)
    @property
    def tracebacks(self): return self.said.count("Traceback")

def request(method, path, body=b"", headers=(), host="127.0.0.1"):
    "An HTTP request as bytes."
    head = {"Host": host, "Connection": "close", "Content-Length": str(len(body)), **dict(headers)}
    return "".join([f"{method} {path} HTTP/1.1\r\n", *(f"{k}: {v}\r\n" for k, v in head.items()), "\r\n"]).encode("utf8", "surrogateescape") + body

JSON = {"Content-Type": "application/json"}

def posted(value, path=ASK, **headers): return request("POST", path, json.dumps(value, ensure_ascii=False).encode(), JSON | headers)

async def said(port, data, limit=600.):
    "(status, body) of what a server answers to some bytes; (0, b'') where it says nothing."
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    got = b""
    try:
        writer.write(data)
        got = await asyncio.wait_for(reader.read(), limit)
    except (ConnectionError, asyncio.TimeoutError): pass
    finally: writer.close()
    head, _, body = got.partition(b"\r\n\r\n")
    if b"transfer-encoding: chunked" in head.lower():
        out = b""
        while body:
            size, _, body = body.partition(b"\r\n")
            n = int(size, 16) if re.fullmatch(rb"[0-9a-fA-F]+", size) else 0
            out, body = out + body[:n], body[n + 2:] if n else b""
        body = out
    status = re.match(rb"HTTP/1\.1 (\d+)", head)
    return (int(status[1]) if status else 0), body

def streamed(body):
    "(text, has verdicts, ended) of a stream."
    events = [e[6:] for e in body.decode("utf8").split("\n\n") if e.startswith("data: ")]
    chunks = [json.loads(e) for e in events if e != "[DONE]"]
    text = "".join(c["choices"][0]["delta"].get("content", "") for c in chunks if c.get("choices"))
    return text, any("claims" in c.get("rag_quality", {}) for c in chunks), events[-1:] == ["[DONE]"]

async def load(server, questions, people, seconds):
    "What comes of `people` who ask one after another for so long."
    expected, wrong, answered, waits, memory = {}, [], 0, [], []
    for q in questions:
        status, body = await said(server.port, posted({"messages": [{"role": "user", "content": q}]}))
        expected[q] = json.loads(body)["choices"][0]["message"]["content"]
    begun = time.perf_counter()
    async def person(n):
        nonlocal answered
        k = n
        while time.perf_counter() - begun < seconds:
            q = questions[k % len(questions)]; k += 1; start = time.perf_counter()
            status, body = await said(server.port, posted({"stream": True, "messages": [{"role": "user", "content": q}]}))
            waits.append(time.perf_counter() - start); answered += 1
            if status != 200 or (found := streamed(body)) != (expected[q], True, True): wrong.append((status, q, body[-200:]))
    async def watch():
        while True: memory.append(server.memory().rss / 2**20); await asyncio.sleep(.5)
    watching = asyncio.create_task(watch())
    await asyncio.gather(*(person(n) for n in range(people)))
    watching.cancel()
    return answered, wrong, waits, memory, time.perf_counter() - begun

async def leaving(port, questions, people):
    "(places taken while they wait, a while after they have gone)"
    pairs = [await asyncio.open_connection("127.0.0.1", port) for _ in range(people)]
    for n, (_, writer) in enumerate(pairs): writer.write(posted({"stream": n % 2 == 0, "messages": [{"role": "user", "content": questions[n % len(questions)]}]}))
    async def inside(): return json.loads((await said(port, request("GET", "/healthz")))[1])["inside"]
    await asyncio.sleep(.3); waiting = await inside()
    for _, writer in pairs: writer.transport.abort()
    await asyncio.sleep(1); return waiting, await inside()

def malformed(n, seed=7):
    "(kind, bytes) of requests that are wrong in one way each."
    rng = random.Random(seed)
    good = {"messages": [{"role": "user", "content": "휴학은 언제까지?"}]}
    junk = [None, True, 7, -1.5, "글", [], {}, [[]], {"a": 1}, "\0", "\ud800", "가" * 3_000, [None] * 600, 10**400]
    def dumped(value, **headers): return request("POST", rng.choice((ASK, "/check")), json.dumps(value).encode(), JSON | headers)
    def broken_json(): text = json.dumps(good, ensure_ascii=False).encode(); return request("POST", ASK, text[:rng.randrange(len(text))], JSON)
    def noise(): return request("POST", rng.choice((ASK, "/check")), rng.randbytes(rng.randrange(1, 2_000)), JSON)
    def encoded(): return request("POST", ASK, json.dumps(good, ensure_ascii=False).encode(rng.choice(("cp949", "utf-16", "utf-32"))), JSON)
    def wrong_type(): return posted(good | {rng.choice(("messages", "stream", "n", "model")): rng.choice([j for j in junk if j not in (None, True, "\ud800") and j != 1])}) if rng.random() < .5 else dumped({"answer": rng.choice([j for j in junk if not isinstance(j, str) or j == "\0"])})
    def wrong_message(): return dumped({"messages": [{"role": rng.choice(("user", "나", 3, None)), "content": rng.choice([j for j in junk if not (isinstance(j, str) and j == "글")])}]})
    def deep(): return request("POST", ASK, b'{"messages":' + rng.choice((b"[", b'{"a":')) * rng.choice((40, 900, 100_000)), JSON) if rng.random() < .5 else dumped({"messages": [{"role": "user", "content": "휴학", "x": json.loads("[" * 60 + "]" * 60)}]})
    def huge(): return request("POST", ASK, b'{"messages": "' + b"a" * rng.choice((1_000_001, 1_500_000, 9_000_000)) + b'"}', JSON)
    def half(): return request("POST", ASK, b'{"messages":[{"role":"user","content":"\\ud8' + rng.choice((b"00", b"ff")) + b'"}]}', JSON)
    def numbers(): return request("POST", "/check", b'{"answer":"a","threshold":' + rng.choice((b"NaN", b"Infinity", b"-1", b"9" * 5_000, b"1e999", b'"1"')) + b"}", JSON)
    def kind(): return request("POST", ASK, json.dumps(good).encode(), {"Content-Type": rng.choice(("text/plain", "", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"))})
    def place(): return request(rng.choice(("GET", "PUT", "DELETE", "PATCH", "BREW")), rng.choice((ASK, "/check", "/no", "/v1/models/x", "//", "/%00", "/" + "a" * 3_000, "/../../etc/passwd")), b"", {})
    def http(): return rng.choice((b"\r\n\r\n", b"GET\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00", rng.randbytes(200) + b"\r\n\r\n", b"POST / HTTP/9.9\r\n\r\n", b"GET / HTTP/1.1\r\nHost\r\n\r\n", f"POST {ASK} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: -5\r\n\r\n".encode(),
                                       f"POST {ASK} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\nzz\r\n".encode(), b"GET / HTTP/1.1\r\nHost: " + b"a" * 70_000 + b"\r\n\r\n"))
    def host(): return request("GET", "/healthz", host=rng.choice(("evil.example", "127.0.0.1.evil.example", "", "192.168.0.1")))
    kinds = (broken_json, noise, encoded, wrong_type, wrong_message, deep, huge, half, numbers, kind, place, http, host)
    return [(k.__name__, k()) for k in (kinds[i % len(kinds)] for i in range(n))]

async def abused(port, n):
    "kind -> statuses of malformed requests, and those with a body that is no error in OpenAI's form."
    found, odd = {}, []
    for kind, data in malformed(n):
        status, body = await said(port, data, 5 if kind == "http" else 60)
        found.setdefault(kind, []).append(status)
        try: right = kind == "http" or set(json.loads(body)["error"]) == {"message", "type", "param", "code"}
        except (ValueError, TypeError, KeyError): right = False
        if not right: odd.append((kind, status, data[:160], body[:160]))
    return found, odd

async def knocked(port):
    "(requests without the token, of them let in, whether the right one is)"
    tries = [request(m, p, b"{}", JSON | h) for m in ("GET", "POST", "HEAD", "OPTIONS") for p in ("/", "/healthz", "/v1/models", ASK, "/check", "/no", f"/?token={TOKEN}", f"/v1/models/{TOKEN}")
             for h in ({}, {"Authorization": "Bearer"}, {"Authorization": f"Bearer {TOKEN[:-1]}"}, {"Authorization": f"Bearer {TOKEN}x"}, {"Authorization": "Basic " + "A" * 30}, {"X-Api-Key": TOKEN})]
    statuses = [(await said(port, t))[0] for t in tries]
    right = (await said(port, request("GET", "/healthz", b"", {"Authorization": f"Bearer {TOKEN}"})))[0]
    return len(statuses), sum(s != 401 for s in statuses), right == 200

def main():
    ap = argparse.ArgumentParser(); ap.add_argument("--slice", action="store_true"); args = ap.parse_args()
    log.setLevel("ERROR")
    try: import starlette, uvicorn
    except ImportError: print("not measured: starlette and uvicorn are not installed (pip install 'rag-quality[serve]')"); return 0
    people, seconds, n = (20, 5, 130) if args.slice else (200, 60, 1_000)
    questions = [q.text for q in measurable(bundled(), "dev")[0].queries][::41][:8 if args.slice else 24]
    server = Server("--waiting", "600")
    try:
        answered, wrong, waits, memory, took = asyncio.run(load(server, questions, people, seconds))
        left = asyncio.run(leaving(server.port, questions, people))
        statuses, odd = asyncio.run(abused(server.port, n))
        alive = asyncio.run(said(server.port, posted({"messages": [{"role": "user", "content": questions[0]}]})))[0]
    finally: server.stop()
    third, end = max(memory[:max(len(memory) // 3, 1)]), max(memory[-max(len(memory) // 3, 1):])
    waits.sort()
    print(f"{people} streams at a time for {seconds} s: {answered} answered in {took:.0f} s, half of them within {waits[len(waits) // 2]:.1f} s, the slowest {waits[-1]:.1f} s")
    print(f"streams that broke, or said another thing than without streaming: {len(wrong)}")
    for w in wrong[:3]: print("  ->", w)
    print(f"memory of the server: {third:.0f} MB at most in the first third, {end:.0f} MB at most in the last")
    print(f"clients that left while they waited: {left[1]} places still taken a second later")
    told = {k: dict(sorted((s, v.count(s)) for s in set(v))) for k, v in statuses.items()}
    fives = sum(s >= 500 for v in statuses.values() for s in v)
    print(f"malformed requests: {n}, answered by 5xx {fives}, by another form than OpenAI's {len(odd)}, tracebacks {server.tracebacks}, then a right one: {alive}")
    for o in odd[:5]: print("  ->", o)
    locked = Server("--host", "127.0.0.1", RAG_QUALITY_TOKEN=TOKEN)
    try: tries, open_, right = asyncio.run(knocked(locked.port))
    finally: locked.stop()
    print(f"requests without the token: {tries}, let in {open_}, with it let in: {int(right)}, times the token stands in the server's output: {locked.said.count(TOKEN)}")
    kept.note(n=n, split="hanbit dev", seed=7, modules=["rag_quality.answering.serve", "rag_quality.answering.requests"], statuses=told)
    assert not wrong and not fives and not odd and not server.tracebacks and not open_ and right and alive == 200 and left[1] <= 2 and TOKEN not in locked.said
    assert end < 1.1 * third + 20, (third, end)

if __name__ == "__main__": kept.run(main)

"""Is what `pip install` gives the whole product? python tools/wheel_check.py [--extras] [--folder FOLDER] [--only NAME ...]

Builds the sdist, and the wheel from it; reads what they hold; installs the wheel without extras into an empty environment; imports every module;
runs every command from another folder on the input of tools/wheel_input.py and reads what came out; then wrong input and options whose extra is missing.
--extras   (nightly) instead of the commands: every extra resolves without constraints.txt, is installed in turn and runs the option that needs it on the bundled data
--folder   work there and leave it: a second run takes its environment and its cache, and neither builds nor installs
--only     only the chains of these names: session, endpoint, search, answers, documents, measure, benchmark, extras; with --extras, only these
"""
import argparse, ast, json, os, shutil, subprocess, sys, tarfile, tempfile, threading, time, tomllib, zipfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatch
from html import unescape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from queue import Empty, Queue

import wheel_input
from slots import slot

ROOT = Path(__file__).resolve().parent.parent
MOST_MB = 15             # of the unpacked wheel
PACKED = {"hanbit/needs.jsonl": "hanbit/needs.jsonl.xz"}      # what setup.py compresses for the wheel
PATIENCE_S = 900         # for one command, on a busy machine
AT_ONCE = 2
IGNORED = shutil.ignore_patterns(".git", ".venv*", "build", "dist", "*.egg-info", "__pycache__", ".cache", ".ipynb_checkpoints", ".hypothesis", ".coverage*", "_docs", "_proc", "output", "nbs", "benchmarks", "tools")


class Report:
    "Rows as they are known; what failed is counted."
    def __init__(self): self.passed, self.failed, self._lock = 0, 0, threading.Lock()

    def row(self, name, problem="", more=""):
        with self._lock:
            self.passed += not problem
            self.failed += bool(problem)
            print(f"{'FAIL' if problem else 'ok  '} {name}  {more}" + (f"\n       {problem}" if problem else ""), flush=True)


# ---- what the wheel holds

def project(): return tomllib.loads((ROOT/"pyproject.toml").read_text(encoding="utf8"))

def built(folder):
    "(sdist, wheel) of a clean copy of the checkout: what an earlier build left behind would come along."
    copy = folder/"checkout"
    shutil.copytree(ROOT, copy, symlinks=True, ignore=IGNORED)
    done = subprocess.run([sys.executable, "-m", "build", "--no-isolation", "--outdir", folder/"dist", copy], capture_output=True, text=True)
    if done.returncode: raise SystemExit(done.stdout[-3000:] + done.stderr[-3000:])
    return next((folder/"dist").glob("*.tar.gz")), next((folder/"dist").glob("*.whl"))

def named_data():
    "(module, path below _bundle) of what the code names: bundle_path(\"a\", \"b\") and load_config(\"c\")."
    for path in sorted((ROOT/"rag_quality").rglob("*.py")):
        for call in ast.walk(ast.parse(path.read_text(encoding="utf8"))):
            if not isinstance(call, ast.Call): continue
            name = getattr(call.func, "id", getattr(call.func, "attr", ""))
            given = []
            for a in call.args:
                if not isinstance(a, ast.Constant) or not isinstance(a.value, str): break
                given.append(a.value)
            if name == "bundle_path" and given: yield path.name, "/".join(given)
            if name == "load_config" and given and not call.args[1:] and given != ["mapping"]: yield path.name, f"config/{given[0]}.json"

def holdings(report, sdist, wheel):
    "Size, modules and data of the wheel; what the sdist has besides."
    with zipfile.ZipFile(wheel) as z: files = {i.filename: i.file_size for i in z.infolist()}
    mb = sum(files.values())/1e6
    report.row("size of the unpacked wheel", f"{mb:.2f} MB, at most {MOST_MB}" if mb > MOST_MB else "", f"{mb:.2f} MB, {len(files)} files")
    mine = {str(p.relative_to(ROOT)) for p in (ROOT/"rag_quality").rglob("*.py")}
    report.row("every module of the checkout", ", ".join(sorted(mine - files.keys())), f"{len(mine)} modules")
    bundle = "rag_quality/_bundle/"
    left = [p.removeprefix("_bundle/") for p in project()["tool"]["setuptools"]["exclude-package-data"]["rag_quality"]]
    data = {str(p.relative_to(ROOT/"data")) for p in (ROOT/"data").rglob("*") if p.is_file() and not any(part.startswith(".") for part in p.parts)}
    kept = {PACKED.get(d, d) for d in data if not any(fnmatch(d, p) for p in left)}
    report.row("every data file but the measuring sets", ", ".join(sorted(kept - {f.removeprefix(bundle) for f in files})), f"{len(kept)} files, {len(data) - len(kept)} stay in the repository")
    gone = [f for f in files if f.startswith(bundle) and f.removeprefix(bundle) not in kept]
    report.row("no file that should stay out", ", ".join(gone))
    wanted = sorted(set(named_data()))
    report.row("every data file that the code names", ", ".join(f"{m}: {d}" for m, d in wanted if bundle + d not in files and not any(f.startswith(f"{bundle}{d}/") for f in files)), f"{len({d for _, d in wanted})} paths")
    report.row("the licence in the wheel", "" if any(f.endswith("/LICENSE") for f in files) else "no LICENSE")
    with tarfile.open(sdist) as t: there = {n.partition("/")[2] for n in t.getnames()}
    report.row("README, LICENSE, CHANGELOG and constraints in the sdist", ", ".join(f for f in ("README.md", "LICENSE", "CHANGELOG.md", "constraints.txt", "pyproject.toml") if f not in there))


# ---- an environment of its own

def clean_env(folder, **more):
    "Nothing of the caller's Python: no PYTHONPATH, no virtual environment, a home of its own, and a cache of its own unless one is given (it holds analyses by their content)."
    keep = ("PATH", "LANG", "TMPDIR", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS", "PIP_CONFIG_FILE", "http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "no_proxy")
    threads = {k: "1" for k in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}
    home = folder/"home"
    home.mkdir(exist_ok=True)
    return {**{k: os.environ[k] for k in keep if k in os.environ}, **threads, "PYTHONUTF8": "1", "HOME": str(home), "RAG_QUALITY_CACHE": os.environ.get("RAG_QUALITY_CACHE") or str(folder/"cache"), "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            "PIP_CACHE_DIR": os.environ.get("PIP_CACHE_DIR", str(Path.home()/".cache/pip")), "HF_HUB_OFFLINE": "1", **{k: str(v) for k, v in more.items()}}

def pip(venv, folder, *args, locked=True):
    "(exit status, output) of pip in an environment."
    lock = {"PIP_CONSTRAINT": ROOT/"constraints.txt"} if locked else {}
    done = subprocess.run([venv/"bin/pip", *map(str, args)], capture_output=True, text=True, cwd=folder, env=clean_env(folder, **lock))
    return done.returncode, done.stdout + done.stderr

IMPORTS = """
import importlib, pkgutil, rag_quality, sys
from rag_quality.core import MissingExtra
bad, n = [], 0
def tell(name): bad.append(name)
for m in pkgutil.walk_packages(rag_quality.__path__, "rag_quality.", onerror=tell):
    if m.name.endswith("__main__"): continue
    n += 1
    try: importlib.import_module(m.name)
    except MissingExtra: pass
    except Exception as e: bad.append(f"{m.name}: {type(e).__name__}: {e}")
print(n, rag_quality.__file__); print("; ".join(bad)[:600])
"""

def imports(report, venv, folder):
    done = subprocess.run([venv/"bin/python", "-c", IMPORTS], capture_output=True, text=True, cwd=folder, env=clean_env(folder))
    head, _, bad = done.stdout.partition("\n")
    n, _, where = head.partition(" ")
    problem = bad.strip() or done.stderr.strip()[-400:]
    if not problem and not where.startswith(str(venv)): problem = f"imported from {where}"
    expected = sum(p.name not in ("__init__.py", "__main__.py") or p.parent != ROOT/"rag_quality" and p.name == "__init__.py" for p in (ROOT/"rag_quality").rglob("*.py"))
    if not problem and int(n) != expected: problem = f"{n} modules imported, the checkout has {expected}"
    report.row("every module imports without extras", problem, f"{n} modules")

LOADERS = """
from rag_quality.semantic_eval.calibration import contrast_pairs
from rag_quality.benchmark.data import load_chatbot_answers
from rag_quality.core import DataError
for load in (contrast_pairs, load_chatbot_answers):
    try: print(load.__name__, "found", len(load()))
    except DataError as e: print(load.__name__, "told" if "RAG_QUALITY_DATA" in str(e) and len(str(e).splitlines()) == 1 else e)
"""

def loaders(report, venv, folder):
    "What only measures is not in the wheel: its loaders say where to get it, and find it where RAG_QUALITY_DATA names it."
    for name, more, word in (("say where to get them", {}, "told"), ("find them in RAG_QUALITY_DATA", {"RAG_QUALITY_DATA": ROOT/"data"}, "found")):
        done = subprocess.run([venv/"bin/python", "-c", LOADERS], capture_output=True, text=True, cwd=folder, env=clean_env(folder, **more))
        bad = [line for line in done.stdout.splitlines() if line.split()[1] != word]
        report.row(f"loaders of measuring sets {name}", done.stderr.strip()[-300:] if done.returncode else "; ".join(bad))

def commands_of(venv, folder):
    "The commands of the parser of the installed package."
    code = "from rag_quality.cli import parser; import argparse; print(*next(a for a in parser()._actions if isinstance(a, argparse._SubParsersAction)).choices)"
    return subprocess.run([venv/"bin/python", "-c", code], capture_output=True, text=True, check=True, cwd=folder, env=clean_env(folder)).stdout.split()


# ---- a command and what is expected of it

@dataclass(frozen=True)
class Step:
    args: tuple
    says: tuple = ()                 # what stands in the output
    rc: int = 0
    look: Callable|None = None       # look(folder) -> '' or what is wrong
    stdin: str = ""
    errs: tuple = ()                 # what stands in stderr
    env: tuple = ()

def step(command, *args, **more): return Step((*command.split(), *map(str, args)), **more)

def refused(command, *args, says=(), **more): return step(command, *args, rc=2, errs=says if isinstance(says, tuple) else (says,), **more)

# many commands in one process, as `main` is called by the entry point: starting Python and importing costs more than most of them do
SERVE = """
import contextlib, io, json, os, sys, traceback
from rag_quality.cli import main
given, answers = sys.stdin, os.fdopen(os.dup(1), "w", encoding="utf8")
os.dup2(2, 1)
for line in given:
    s = json.loads(line); out, err, sys.stdin = io.StringIO(), io.StringIO(), io.StringIO(s["stdin"])
    os.chdir(s["cwd"])
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try: rc = main(s["args"])
        except SystemExit as e: rc = e.code or 0
        except BaseException: rc = 1; traceback.print_exc()
    used = os.times()
    print(json.dumps({"rc": rc, "out": out.getvalue(), "err": err.getvalue(), "cpu": used.user + used.system}), file=answers, flush=True)
"""

class Shared:
    "One process of the installed package that runs commands one after the other."
    def __init__(self, venv, folder, n):
        self.cpu, self.lost = 0., (folder/f"shared-{n}.stderr").open("w+")
        self.p = subprocess.Popen([venv/"bin/python", "-c", SERVE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.lost, text=True, cwd=folder, env=clean_env(folder))

    @property
    def lives(self): return self.p.poll() is None

    def run(self, s, cwd):
        limit = threading.Timer(PATIENCE_S, self.p.kill)
        limit.start()
        self.p.stdin.write(json.dumps({"args": s.args, "stdin": s.stdin, "cwd": str(cwd)}) + "\n"); self.p.stdin.flush()
        line = self.p.stdout.readline()
        limit.cancel()
        if not line: self.lost.seek(0); return self.p.wait(), "", "the process died: " + self.lost.read()[-400:], 0.
        got = json.loads(line)
        cpu, self.cpu = got["cpu"] - self.cpu, got["cpu"]
        return got["rc"], got["out"], got["err"], cpu

    def close(self): self.p.stdin.close(); self.p.wait(); self.lost.close()

def alone(s, venv, folder, cwd):
    "(exit status, stdout, stderr, CPU seconds) of a command in a process of its own."
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        p = subprocess.Popen([venv/"bin/rag-quality", *s.args], stdin=subprocess.PIPE, stdout=out, stderr=err, cwd=cwd, env=clean_env(folder, **dict(s.env)))
        limit = threading.Timer(PATIENCE_S, p.kill)
        limit.start()
        try: p.stdin.write(s.stdin.encode()); p.stdin.close()
        except BrokenPipeError: pass                               # it ended before it read: its exit status says how
        _, status, used = os.wait4(p.pid, 0)
        limit.cancel()
        p.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0); err.seek(0)
        return p.returncode, out.read().decode("utf8", "replace"), err.read().decode("utf8", "replace"), used.ru_utime + used.ru_stime

def problems_of(s, rc, said, told, cwd):
    "What is not as expected."
    found = [f"rc {rc}, expected {s.rc}"] if rc != s.rc else []
    if "Traceback" in said + told: found.append("a traceback")
    if s.rc == 2 and (n := sum(not x.endswith("…") for x in told.strip().splitlines())) != 1:
        found.append(f"{n} lines in stderr, expected one")      # the first sign that a slow command gives apart
    found += [f"{x!r} is not in the output" for x in s.says if x not in said] + [f"{x!r} is not in stderr" for x in s.errs if x not in told]
    if found or not s.look: return found
    try: wrong = s.look(cwd)
    except (OSError, ValueError, KeyError, IndexError, TypeError) as e: wrong = f"{type(e).__name__}: {e}"
    return [wrong] if wrong else []

def run_step(report, s, venv, folder, cwd, shared=None):
    "Run one command and tell what came out."
    start = time.perf_counter()
    with slot(): rc, said, told, cpu = shared.run(s, cwd) if shared else alone(s, venv, folder, cwd)
    problems = problems_of(s, rc, said, told, cwd)
    shown = " ".join(Path(a).name if a.startswith("/") else a for a in s.args)
    more = f"\n       | {said.strip()[-300:]} | {told.strip()[-500:]}" if problems else ""
    report.row(f"{'rag-quality' if not shared else '       main'} {shown[:110]}", "; ".join(problems) + more, f"rc {rc}, {time.perf_counter() - start:.0f} s, CPU {cpu:.1f} s")

ALONE = {"search", "test", "check", "evaluate", "import", "doctor"}     # the first of these has a process of its own, as a user's has

def run_chain(report, name, chain, venv, folder, seen, idle):
    "The commands of a chain, one after the other, in an empty folder of its own; it goes on after a failure. `idle`: a queue of processes that chains lend one another."
    cwd, shared = folder/f"work-{name}", None
    cwd.mkdir()
    for n, s in enumerate(chain):
        own = s.env or s.args[0] in ALONE - seen
        seen.add(s.args[0])
        if not own and (shared is None or not shared.lives):
            try: shared = idle.get_nowait()
            except Empty: shared = Shared(venv, folder, f"{name}-{n}")
        run_step(report, s, venv, folder, cwd, None if own else shared)
    if shared and shared.lives: idle.put(shared)


# ---- readers of results

def rows(path): return [json.loads(line) for line in path.read_text(encoding="utf8").splitlines()]

def checked(path, wrong=("a2", "a4", "a6")):
    "The answers that contradict their article are told from those that repeat it."
    def look(cwd):
        found = {r["_id"]: r["is_acceptable"] for r in json.loads((cwd/path).read_text(encoding="utf8"))["rows"]}
        bad = [i for i, ok in found.items() if ok == (i in wrong)]
        return f"judged wrongly: {bad}" if len(found) != 6 or bad else ""
    return look

def has(path, *texts):
    "A file of the working folder holds texts (HTML entities read)."
    def look(cwd):
        found = unescape((cwd/path).read_text(encoding="utf8"))
        return ", ".join(f"{path} has no {t!r}" for t in texts if t not in found)
    return look

def fields(path, *names):
    def look(cwd):
        found = json.loads((cwd/path).read_text(encoding="utf8"))
        return ", ".join(f"{path} has no {n!r}" for n in names if n not in found)
    return look

def evaluated(path, target=.7):
    "All queries counted, and the full pipeline finds the articles."
    def look(cwd):
        found = json.loads((cwd/path).read_text(encoding="utf8"))
        every = [r for r in found["systems"] if r["slice"] == "all"]
        value = every[-1]["measures"]["R@10"]["mean"]
        return "" if value >= target and {r["slice"] for r in found["systems"]} >= {"all", "colloquial", "formal"} else f"R@10 {value}, slices {sorted({r['slice'] for r in found['systems']})}"
    return look

def session(path):
    "A session's folder: its questions were asked, its report and its dashboard show one of them."
    def look(cwd):
        folder = cwd/path
        asked = [r for f in sorted(folder.glob("*quer*.jsonl")) for r in rows(f)]
        if not asked: return f"no questions in {sorted(p.name for p in folder.iterdir())}"
        text = next(r[k] for r in asked for k in ("text", "query", "question") if isinstance(r.get(k), str))
        page = unescape((folder/"dashboard.html").read_text(encoding="utf8"))
        return "" if text in page and (folder/"report.md").stat().st_size > 500 else f"the dashboard does not show {text!r}"
    return look

def answered(cwd):
    found = rows(cwd/"said.jsonl")
    return "" if [r["_id"] for r in found] == ["1", "2"] and any("날짜로 계산하여 반환" in r["answer"] for r in found) else f"{found!r:.300}"


ASKED = "서울 출장 가면 방값 얼마까지 나와요"

def replied(cwd):
    "A batch file asks what was asked; the file of replies that a batch run would give is written beside it."
    asked = rows(cwd/"batch.jsonl")
    if not asked or asked[0]["url"] != "/v1/chat/completions" or not any("방값" in m["content"] for r in asked for m in r["body"]["messages"]): return f"{asked!r:.300}"
    body = {"choices": [{"message": {"role": "assistant", "content": "서울특별시 출장의 숙박비 상한"}, "finish_reason": "stop"}], "usage": {"prompt_tokens": 1, "completion_tokens": 1}}
    wheel_input.lines(cwd/"replies.jsonl", [{"custom_id": r["custom_id"], "response": {"status_code": 200, "body": body}} for r in asked])
    return ""

def learnt_replies(cwd):
    "A batch file asks of the articles; replies as a batch run would give are written beside it, one of them a refusal."
    asked = rows(cwd/"pack/requests.jsonl")
    if len(asked) < 5 or not any("정기권" in r["body"]["messages"][1]["content"] for r in asked): return f"{asked!r:.300}"
    said = [{"questions": ["주차권 끊어 놓은 거 그만두면 돈 얼마나 돌려줘요?"]} if "해지" in r["body"]["messages"][1]["content"] else {"questions": ["죄송하지만 답변드릴 수 없습니다."]} for r in asked]
    body = lambda content: {"model": "test", "choices": [{"message": {"role": "assistant", "content": json.dumps(content, ensure_ascii=False)}, "finish_reason": "stop"}]}
    wheel_input.lines(cwd/"learnt.jsonl", [{"custom_id": r["custom_id"], "response": {"status_code": 200, "body": body(c)}} for r, c in zip(asked, said)])
    return ""


# ---- the cases

@contextmanager
def endpoint(reply):
    "A chat endpoint in the form of OpenAI on 127.0.0.1; yields its address."
    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *args): pass
        def do_GET(self): self.answer({"object": "list", "data": [{"id": "test-model", "object": "model"}]})
        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or b"{}")
            said = reply([m["content"] for m in body.get("messages", [])])
            self.answer({"id": "1", "object": "chat.completion", "created": 0, "model": "test-model", "usage": {"prompt_tokens": 10, "completion_tokens": 10, "total_tokens": 20},
                         "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": said}}]})
        def answer(self, value):
            data = json.dumps(value, ensure_ascii=False).encode()
            self.send_response(200)
            for name, v in (("Content-Type", "application/json"), ("Content-Length", len(data))): self.send_header(name, str(v))
            self.end_headers()
            self.wfile.write(data)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try: yield f"http://127.0.0.1:{server.server_port}/v1"
    finally: server.shutdown(); server.server_close()

def chains(at, url):
    "name -> the commands that follow one another, over the input folder `at`."
    rules, beir, bench = at/"rules", at/"beir", at/"bench"
    small = ("--data", beir, "--queries", 3, "--turns", 3, "--seed", 7, "--personas", "학부모", "신입 직원")
    return {
        "session": [
            step("test", "--data", beir, "--queries", 3, "--turns", 5, "--seed", 7, "--out", "s1", says=("질문 3개", "보고서"), look=session("s1")),
            step("report s1", says=("#", "맥락 유지")),
            step("report s1 --write", look=has("s1/report.md", "씨앗")),
            step("dashboard s1 --out page.html", says=("대시보드",), look=has("page.html", "질문 3개", "<script")),
        ],
        "endpoint": [
            step("test", *small, "--endpoint", url, "--model", "test-model", "--out", "s2", "--fast", "--concurrency", 2, says=("질문 6개", "대상"), look=session("s2")),
            step("test", *small, "--out", "s3", "--fast", says=("질문 6개",), look=session("s3")),
            step("dashboard s3 --compare s2 --out compared.html", look=has("compared.html", "<script")),
            step("case test_bot.py --from s3", says=("test_bot.py에 적었습니다",), look=has("test_bot.py", "def test_")),
            step("diagnose s3", "--data", beir, says=("샤플리 값", "HyDE"), look=has("s3/report.md", "질문")),
            step("improve s3", "--data", beir, says=("재어 보기만 했습니다",), look=lambda cwd: "a dry run wrote" if any((cwd/"data/config").glob("*.json")) else ""),
            step("improve s3 --apply", "--data", beir, says=("정하는 질문", "남긴")),
            step("improve s3 --rollback", "--data", beir, says=("되돌",)),
            step("test --resume s3 --fast", "--data", beir, says=("질문 6개",)),
            step("test", *small, "--endpoint", "http://127.0.0.1:9/v1", "--model", "x", "--out", "s4", "--fast", rc=1, says=("재지 못했습니다", "끝점의 설정을 고치세요")),      # nobody answers there: that is the finding
            refused("test --model x", "--data", beir, says="--endpoint"),
            refused("report no-such-session", says="no-such-session"),
            refused("dashboard no-such-session", says="no-such-session"),
        ],
        "search": [
            step("search", "나 결혼하는데 며칠 쉴 수 있어?", "--data", rules, "-k", 3, "--trace", says=("휴가 규정 제4조", "[colloquial]")),
            step("search", "숙박비 상한", "--data", rules, "--weights", "0.3/0.7", "--index", "int8", says=("출장 여비 규정 제2조",)),
            step("explain", "경차는 깎아 주나요?", "--data", rules, says=("주차장 운영 규정 제3조", "+ 사람들의 말")),
            step("explain", "경차는 깎아 주나요?", "--data", rules, "--json", says=('"ranks"', "주차장 운영 규정 제3조")),
            step("ask", "정기권 해지하면 요금을 돌려받을 수 있나요?", "--data", rules, says=("날짜로 계산하여 반환", "제4조")),
            step("ask", "정기권 해지하면 요금을 돌려받을 수 있나요?", "--data", beir, "--json", says=('"citations"', "제4조")),
            step("ask --queries", at/"questions.jsonl", "--out", "said.jsonl", "--data", rules, rc=1, errs=("3",), look=answered),
            step("search", ASKED, "--data", rules, "--llm", "openai/test-model", "--batch-out", "batch.jsonl", errs=("batch.jsonl",), look=replied),
            step("search", ASKED, "--data", rules, "--llm", "openai/test-model", "--batch-in", "replies.jsonl", says=("출장 여비 규정 제2조",)),
            step("learn", "--data", rules, "--out", "pack", says=("배치를 기다림",), look=learnt_replies),
            step("learn", "--data", rules, "--out", "pack", "--batch-in", "learnt.jsonl", says=("거절", "되찾기"), look=has("pack/manifest.json", "rag-quality-pack/1", "test")),
            step("search", "주차권 끊은 거 그만두면 돈 줘?", "--data", rules, "--knowledge", "pack", "--trace", says=("배운 물음", "주차장 운영 규정 제4조"), errs=("팩",)),
            refused("learn", "--data", rules, "--out", "pack", "-k", "0", says="-k 0"),
            refused("search", "숙박비", "--data", rules, "--knowledge", "no-pack", says="no-pack"),
            refused("search", "숙박비", "--data", "no/such", says="no/such"),
            refused("search", "숙박비", "--dta", rules, says="--data"),
            refused("search", "  ", "--data", rules, says="비었습니다"),
            refused("serch", "숙박비", says="search"),
            refused("ask --queries", at/"broken.jsonl", "--out", "x.jsonl", "--data", rules),
        ],
        "answers": [
            step("check --answers", at/"answers.jsonl", "--json", "checked.json", "--html", "checked.html", look=checked("checked.json")),
            step("check --answers", at/"answers.csv", "--against", at/"answers.jsonl", "--html", "against.html", says=("0개 나아지고 0개 나빠짐",), look=has("against.html", "답 견주기", "<script")),
            step("check --answers", at/"answers.csv", "--json", "checked2.json", look=checked("checked2.json")),
            step("check --answers", at/"answers.jsonl", "--threshold", .5, "--shown", 2, says=("90일",)),
            step("judge --answers", at/"answers.jsonl", "--json", "judged.json", "--html", "judged.html", look=has("judged.json", "a2", "rules")),
            step("judge --answers", at/"answers.csv", says=("a2", "여비는 언제까지 정산하나요?")),
            step("label", at/"answers.jsonl", "labels.jsonl", "--fields", "correctness", "--rater", "r1", stdin="1\n1\n1\n1\n1\n1\nq\n", look=lambda cwd: "" if len(rows(cwd/"labels.jsonl")) == 6 else "not six labels"),
            step("label", at/"answers.jsonl", "labels2.jsonl", "--fields", "correctness", "--limit", 2, stdin="s\nq\n", look=lambda cwd: "" if rows(cwd/"labels2.jsonl")[0]["value"] is None else "what was skipped has a value"),
            step("agree", at/"judgments.jsonl", "labels.jsonl", says=("[correctness]",)),
            step("agree", at/"judgments.jsonl", "labels.jsonl", "--method", "rules", "--save", says=("judge_agreement",), look=has("data/config/judge_agreement.json", "rules")),
            step("doctor", says=("설치",)),
            step("doctor --json", says=('"group"',)),
            refused("check --answers", at/"broken.jsonl"),
            refused("check --answers no.jsonl", says="no.jsonl"),
            refused("judge --answers no.jsonl", says="no.jsonl"),
            refused("label no.jsonl out.jsonl", says="no.jsonl"),
            refused("agree no.jsonl labels.jsonl", says="no.jsonl"),
        ],
        "documents": [
            step("import", at/"book.hwpx", "--out", "imported", "--report", "report.html", says=("규정 3개", "조 16개", "남긴 곳"), look=has("report.html", "휴가 규정", "출장 여비 규정")),
            step("ask", "정기권 해지하면 요금을 돌려받을 수 있나요?", "--data", "imported", says=("날짜로 계산하여 반환", "제4조")),
            step("search", "숙박비 상한", "--data", at/"book.hwpx", says=("출장 여비 규정 제2조",)),
            step("import", at/"mixed", "--out", "mixed", "--report", "report.json", rc=1, says=("옛것.hwp", "HWP 3"), look=has("report.json", '"unread": 1')),
            step("import --lenient", at/"mixed", "--out", "mixed2", says=("규정 3개",)),
            step("doctor --data", at/"book.hwpx", says=("[자료]", "규정 3개")),
            step("diff", at/"book.hwpx", at/"amended.hwpx", "--answers", at/"answers.jsonl", "--html", "diff.html", says=("번호가 바뀜 2", "12,000원", "저장해 둔 답 6개"), look=has("diff.html", "12,000원")),
            step("diff --json changes.json", "imported", at/"amended.hwpx", "--out", "carried", look=has("changes.json", '"changed": 1')),
            refused("import", at/"broken.jsonl", "--out", "x", says="broken.jsonl"),
            refused("import no/such --out x", says="no/such"),
            refused("import", at/"book.hwpx", "--out", "x", "--report", "x.pdf", says=".html"),
            refused("diff", at/"book.hwpx", "no/such", says="no/such"),
        ],
        "measure": [
            step("evaluate", "--data", beir, "--split", "all", "--by", "register", "--json", "all.json", "--out", "kept", says=("colloquial", "nDCG@10"), look=evaluated("all.json")),
            step("gate all.json all.json --budget", "nDCG@10: -0.5", says=("판정: 통과",)),
            step("evaluate", "--data", beir, "--split", "dev", "--ablate", "--measures", "R@5", says=("R@5",)),
            step("tune", "--data", beir, "--folds", 2, "--save", says=("식:", "남긴 곳"), look=has("data/config/weights.json", "tuned")),
            step("sweep", "--data", beir, "--bm25", "0.9,0.4 1.2,0.75", "--out", "sweep.csv", "--plots", "plots", says=("nDCG@10",), look=lambda cwd: "" if (cwd/"plots/heat_map.png").stat().st_size > 5000 and (cwd/"plots/pareto.png").is_file() and (cwd/"sweep.csv").read_text(encoding="utf8").count("\n") > 2 else "no pictures"),
            refused("evaluate", "--data", "no/such", says="no/such"),
            refused("evaluate", "--data", beir, "--measures", "nDCG@ten"),
            refused("evaluate", "--data", beir, "--by", "no_such_field", says="no_such_field"),
            refused("tune", "--data", beir, "--measure", "no", says="no"),
            refused("sweep", "--data", beir, "--bm25", "x", says="--bm25"),
        ],
        "benchmark": [
            step("benchmark --tasks transformation --split dev --json bundled.json", says=("고쳐 쓰기",), look=fields("bundled.json", "figures", "files")),
            step("benchmark --tasks retrieval citation answers", "--data", bench, "--json", "mine.json", says=("찾기", "출처"), look=fields("mine.json", "figures")),
            step("benchmark --name other", "--data", bench, "--run", at/"run.trec", "--json", "run.json", says=("찾기  구어  nDCG@10  1.000",)),
            step("benchmark --name other", "--data", bench, "--answers", at/"said.jsonl", says=("답    문어  답함",)),
            refused("benchmark --tasks no_such", says="no_such"),
            refused("benchmark", "--data", "no/such", says="no/such"),
        ],
        "extras": [      # what needs one is refused in a line that says which
            refused("ask", "숙박비 상한은?", "--data", rules, "--llm", "openai/test-model", says="rag-quality[llm]"),
            refused("judge --llm openai/test-model --answers", at/"answers.jsonl", says="rag-quality["),
            step("search", "숙박비 상한", "--data", rules, "--index", "hnsw", says=("출장 여비 규정 제2조",), errs=("faiss",)),      # small enough for the exact search: told, not refused
            refused("search", "숙박비", "--data", rules, "--encoder", "BAAI/bge-m3", says="rag-quality["),
            refused("sweep", "--data", beir, "--engine", "ray", says="rag-quality[ray]"),
            step("serve --help", says=("--token", "--mcp")),
            refused("serve", "--data", rules, says="rag-quality[serve]"),
            refused("serve --mcp", "--data", rules, says="rag-quality[mcp]"),
            refused("serve --host 0.0.0.0", "--data", rules, says="토큰"),
            refused("check --answers", at/"answers.jsonl", "--out", "checked.parquet", says="rag-quality[parquet]"),
            refused("sweep", "--data", beir, "--index", "flat hnsw", says="rag-quality[cpu]"),
            refused("search", "숙박비", "--data", rules, "--store", "book.db", says="rag-quality[milvus]"),
            refused("search", "숙박비", "--data", rules, "--store", "postgresql://127.0.0.1:1/book", says="rag-quality[pgvector]"),
        ],
    }


def everything(report, venv, folder, only=()):
    "Every command: the chains two at a time, the longest first."
    if only and (unknown := set(only) - chains(folder, "").keys()): raise SystemExit(f"--only {', '.join(sorted(unknown))}: {', '.join(chains(folder, ''))}")
    at = folder/"input"
    wheel_input.write(at)
    with endpoint(lambda said: "규정에 따르면 담당 부서에 신청서를 제출하면 됩니다. [휴가 규정 제6조]") as url:
        found = chains(at, url)
        known = commands_of(venv, folder)
        tried = {s.args[0] for chain in found.values() for s in chain if s.rc != 2}
        report.row("every command has a case", ", ".join(c for c in known if c not in tried), f"{len(known)} commands")
        chosen = {n: c for n, c in found.items() if not only or n in only}
        first = chosen.pop("search", None)
        if first: run_step(report, first[0], venv, folder, at); chosen["search"] = first[1:]        # fills the cache that the others read
        idle, seen = Queue(), {"search"} if first else set()
        with ThreadPoolExecutor(AT_ONCE) as pool:
            for done in [pool.submit(run_chain, report, n, c, venv, folder, seen, idle) for n, c in chosen.items()]: done.result()
        while not idle.empty(): idle.get().close()


def main(argv=None):
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--extras", action="store_true")
    ap.add_argument("--folder", type=Path)
    ap.add_argument("--only", nargs="+", default=())
    args = ap.parse_args(argv)
    report, began = Report(), time.perf_counter()
    with tempfile.TemporaryDirectory() as d:
        folder = (args.folder or Path(d)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        for old in (*folder.glob("work-*"), folder/"input"): shutil.rmtree(old, ignore_errors=True)
        venv, wheel = folder/"venv", next((folder/"dist").glob("*.whl"), None)
        if not (venv/"bin/rag-quality").is_file():
            with slot():
                sdist, wheel = built(folder)
                holdings(report, sdist, wheel)
                subprocess.run([sys.executable, "-m", "venv", venv], check=True)
                rc, said = pip(venv, folder, "install", "--quiet", "--no-compile", wheel)
            report.row("pip install of the wheel without extras", said[-1000:] if rc else "")
            if rc: return 1
        if args.extras:
            import wheel_extras
            wheel_extras.everything(report, venv, folder, wheel, args.only)
        else:
            with slot():
                imports(report, venv, folder)
                loaders(report, venv, folder)
            everything(report, venv, folder, args.only)
    used = os.times()
    print(f"{report.passed} passed, {report.failed} failed ({time.perf_counter() - began:.0f} s, CPU {used.children_user + used.children_system:.0f} s)")
    return 1 if report.failed else 0


if __name__ == "__main__": sys.exit(main())

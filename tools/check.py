"""Every check of this project, in order.

usage: python tools/check.py                   what a push has to pass (`make test`)
       python tools/check.py --night           everything (`make test-all`)
       python tools/check.py --changed [BASE]  what changed since BASE (tools/changed.py): clean, rules, the notebooks touched
       python tools/check.py NAME ...          only these

The closing line says how many passed and failed. The checks are the functions of the table CHECKS at the end of this file.
"""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import slots

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent
JOBS = os.cpu_count() or 1
MIN_COVERAGE = 90
SAMPLE = 6                # notebooks on which nbdev's own command is proven
ONE = {k: "1" for k in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}      # as many processes as cores


def sh(*cmd, cwd=ROOT, **env):
    "Run a command, its output shown; raises where it fails."
    path = f"{BIN}:{os.environ['PATH']}"
    subprocess.run([str(c) for c in cmd], cwd=cwd, check=True, env={**os.environ, "PATH": path, **env})


def tool(name, *args, **env):
    "Run a script of tools/."
    sh(sys.executable, f"tools/{name}", *args, **env)


def snapshot():
    "What is written into nbs/ and rag_quality/ now."
    files = [*(ROOT/"nbs").rglob("*.ipynb"), *(ROOT/"rag_quality").rglob("*.py")]
    return {f: f.read_bytes() for f in files if ".ipynb_checkpoints" not in f.parts}


def clean():
    "nbdev_export, nbdev_clean and README leave no difference"
    before = snapshot()
    sh("nbdev_export")
    sh("nbdev_clean")
    after = snapshot()
    changed = sorted(str(f.relative_to(ROOT)) for f in before.keys() | after.keys() if before.get(f) != after.get(f))
    if changed:
        raise SystemExit("export/clean changed: " + ", ".join(changed) + " (make notebooks, then commit)")
    tool("readme.py", "--check")


def rules():
    "the rules of the house (tools/check_notebooks.py), the sidebar follows the folders, links reach something, searches find their page, the pictures show the kept figures, the packaged readings and hanbit's card and metadata are today's"
    with slots.slot():
        tool("check_notebooks.py")
        tool("warm.py", "--check")
        tool("dataset_card.py", "--check")
        tool("sidebar.py", "--check")
        tool("site_check.py", "--still")
        tool("pictures.py", "--check")


def quickest():
    "The notebooks on which nbdev's own command is proven: those that take the least time."
    from nb_run import by_length, notebooks
    return [p for _, p in by_length(notebooks())[-SAMPLE:]]


def nbdev():
    "nbdev_test, nbdev's own command, on the quickest notebooks (the check `notebooks` leaves them to it)"
    names = "|".join(p.stem for p in quickest())
    sh("nbdev_test", "--n_workers", JOBS, "--do_print", "--file_re", rf"^({names})\.ipynb$", **ONE)


def notebooks():
    "every cell of every other notebook: nothing fails, the stored outputs are today's"
    from nb_run import notebooks
    proven = quickest()
    tool("nb_run.py", "--imported", "--jobs", JOBS, *(p.relative_to(ROOT) for p in notebooks() if p not in proven))


def site():
    "nbdev's processors make every page of the site; its links, anchors and pictures exist"
    tool("site_check.py", **ONE)


def coverage():
    "every cell of every notebook, traced: enough of rag_quality is executed"
    for old in ROOT.glob(".coverage*"):
        if old.name != ".coveragerc":
            old.unlink()
    # the parent only starts kernels: what is measured is in them; from 3.12 on the interpreter itself tells of lines
    tracer = {"COVERAGE_CORE": "sysmon"} if sys.version_info >= (3, 12) else {}
    bad = 0
    try:
        sh("coverage", "run", "--rcfile=.coveragerc", "tools/nb_run.py", "--imported", "--jobs", JOBS, **tracer)
    except subprocess.CalledProcessError:
        bad = 1                                         # what was executed is worth knowing, too
    sh("coverage", "combine", "--rcfile=.coveragerc", "--quiet")
    sh("coverage", "report", "--rcfile=.coveragerc", f"--fail-under={MIN_COVERAGE}")
    if bad:
        raise SystemExit("notebooks failed: see above")


def figures():
    "each measured figure of the text is in a result or an output; stale results are listed"
    with slots.slot():
        tool("check_figures.py")


def fuzz():
    "property tests over generated texts: a slice of each, the same on every run"
    tool("fuzz.py", **ONE)


def fuzz_long():
    "property tests over generated texts: five hundred of each function, others every day"
    tool("fuzz.py", "--examples", 500, "--seed", time.strftime("%j"), **ONE)


def wheel():
    "the wheel, in an empty environment, holds everything and runs every command"
    tool("wheel_check.py")


def extras():
    "each extra is installed in turn and runs the option that needs it"
    tool("wheel_check.py", "--extras")


def bench_few():
    "a small slice of the benchmarks that tell most for their time"
    sh(sys.executable, "benchmarks/run_all.py", "--slice", "--few", **ONE)


def bench():
    "a small slice of each benchmark"
    sh(sys.executable, "benchmarks/run_all.py", "--slice")


@contextmanager
def beside(requirements):
    "The Python of an environment of its own, made and gone again, which has what `requirements` names and sees this one's packages."
    with tempfile.TemporaryDirectory() as d:
        where = Path(d)/"venv"
        venv.create(where, with_pip=True)
        seen = [p for p in sys.path if p.endswith("site-packages")]
        packages = next(where.glob("[Ll]ib/**/site-packages"))
        (packages/"this_environment.pth").write_text("".join(f"{p}\n" for p in seen), encoding="utf8")
        python = where/("Scripts/python.exe" if os.name == "nt" else "bin/python")
        sh(python, "-m", "pip", "install", "--quiet", "--no-compile", "-r", ROOT/"tools"/requirements, PIP_CONSTRAINT="")
        yield python


def browser():
    "the chat page and what `check`, `judge`, `evaluate` and `test` write, used and looked at in Chrome or Chromium"
    here = any(map(shutil.which, ("chromium", "google-chrome", "chromium-browser", "chrome")))
    if not here and shutil.which("apt-get") and os.geteuid() == 0:
        sh("apt-get", "update", "-qq")
        sh("apt-get", "install", "-y", "-qq", "chromium", "chromium-driver", "fonts-nanum", DEBIAN_FRONTEND="noninteractive")
    with beside("browser.txt") as python:
        sh(python, "tools/browser_check.py", RAG_QUALITY_CLI=BIN/"rag-quality", PYTHONPATH=ROOT, **ONE)


def others():
    "in an environment of their own (tools/others.txt): files that other tools write, hanbit as they read it, mteb's figures and ours"
    with beside("others.txt") as python:
        for name in ("real_forms", "hanbit_folder", "mteb_task"):
            sh(python, f"benchmarks/{name}.py", RAG_QUALITY_COMPARE="1", PYTHONPATH=ROOT, **ONE)


@dataclass(frozen=True)
class Check:
    "A check, when it is due, and whether another may run beside it."
    run: Callable[[], None]
    push: bool = True          # due on every push
    night: bool = True         # due in the nightly run
    beside: bool = False       # writes nothing into the clone, takes a slot (tools/slots.py) for each piece of its work

    @property
    def name(self) -> str:
        "What it is called on the command line."
        return self.run.__name__.replace("_", "-")


CHECKS = [
    Check(clean),
    Check(nbdev, night=False),
    Check(rules, beside=True),
    Check(figures, beside=True),
    Check(notebooks, night=False, beside=True),
    Check(coverage, push=False),
    Check(site, push=False),
    Check(wheel, beside=True),
    Check(extras, push=False),
    Check(fuzz, night=False, beside=True),
    Check(fuzz_long, push=False, beside=True),
    Check(bench_few, night=False, beside=True),
    Check(bench, push=False),
    Check(others, push=False),
    Check(browser, push=False),
]


def verdict(check) -> bool:
    "Run one check, tell how it went and how long it took; did it pass?"
    print(f"== {check.name}", flush=True)
    start, error = time.perf_counter(), None
    try:
        check.run()
    except (subprocess.CalledProcessError, SystemExit) as e:
        error = e
        print(f"FAILED {check.name}: {e}", flush=True)
    print(f"== {check.name}: {time.perf_counter()-start:.0f} s", flush=True)
    return error is None


def apart(check) -> bool:
    "Run one check in a process of its own, each line of its output behind its name; did it pass?"
    p = subprocess.Popen([sys.executable, __file__, "--lines", check.name], cwd=ROOT, text=True,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    for line in p.stdout:
        print(f"{check.name}: {line}", end="", flush=True)
    return p.wait() == 0


def only_touched(base) -> Check:
    "A check of the notebooks that the import graph says are touched."
    from changed import touched
    found = touched(base)

    def notebooks():
        for path, why in sorted(found.items()):
            print(f"{path.relative_to(ROOT)}  <- {why}", flush=True)
        if found:
            tool("nb_run.py", "--imported", "--jobs", JOBS, *(p.relative_to(ROOT) for p in found))
        else:
            print("no notebook is touched")
    return Check(notebooks)


def run(chosen) -> list[bool]:
    "Which passed: first those that want the machine, then the others together, as many pieces at once as there are cores."
    together = [c for c in chosen if c.beside and len(chosen) > 1]
    passed = [verdict(c) for c in chosen if c not in together]
    if together:
        with tempfile.TemporaryDirectory() as locks, ThreadPoolExecutor(len(together)) as pool:
            slots.make(locks, JOBS)
            passed += pool.map(apart, together)
    return passed


def main():
    table = {c.name: c for c in CHECKS}
    listed = "\n".join(f"  {n:10} {c.run.__doc__ or ''}" for n, c in table.items())
    ap = argparse.ArgumentParser(description=__doc__, epilog="checks:\n" + listed, formatter_class=argparse.RawTextHelpFormatter)
    ap.add_argument("names", nargs="*")
    ap.add_argument("--night", action="store_true")
    ap.add_argument("--changed", nargs="?", const="", metavar="BASE")
    ap.add_argument("--lines", action="store_true", help=argparse.SUPPRESS)      # no closing line: one of several
    args = ap.parse_args()
    if unknown := set(args.names) - table.keys():
        sys.exit(f"unknown check {', '.join(sorted(unknown))}; there are: {', '.join(table)}")
    if args.changed is not None:
        chosen = [table["clean"], table["rules"], only_touched(args.changed)]
    elif args.names:
        chosen = [table[n] for n in args.names]
    else:
        chosen = [c for c in CHECKS if (c.night if args.night else c.push)]
    os.environ["RAG_QUALITY_STRICT"] = "1"          # what goes wrong in an optional step is an error here, not a remark
    with tempfile.TemporaryDirectory() as cache:    # one warm cache a run, nothing from an earlier one
        os.environ.setdefault("RAG_QUALITY_CACHE", cache)
        passed = run(chosen)
    if not args.lines:
        print(f"{sum(passed)} passed, {len(passed) - sum(passed)} failed")
    return 0 if all(passed) else 1


if __name__ == "__main__":
    sys.exit(main())

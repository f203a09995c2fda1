"""Every check that CI runs, in order; names in the arguments run only those.

clean      nbdev_export, nbdev_clean and README leave no difference
rules      tools/check_notebooks.py
tests      nbdev_test on one notebook of each phase; `check.py tests-all` runs it on all (minutes)
coverage   every cell of every notebook but the few of LONG: nothing fails, stored outputs are today's, at least 90 % of rag_quality is executed by those that are traced (all but HEAVY); `check.py coverage-all`: LONG, too
wheel      tools/wheel_check.py: the wheel, in an empty environment, holds everything and runs every command; `check.py wheel-extras`: each extra in turn
bench      a small slice of each benchmark
"""
import os, subprocess, sys, time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent
MIN_COVERAGE = 90

def sh(*cmd, cwd=ROOT, **env):
    "Run a command, its output shown; raises where it fails."
    subprocess.run([str(c) for c in cmd], cwd=cwd, check=True, env={**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}", **env})

def snapshot():
    files = [*(ROOT/"nbs").rglob("*.ipynb"), *(ROOT/"rag_quality").rglob("*.py")]
    return {f: f.read_bytes() for f in files if ".ipynb_checkpoints" not in f.parts}

def clean():
    before = snapshot()
    sh("nbdev_export"); sh("nbdev_clean")
    after = snapshot()
    changed = sorted(str(f.relative_to(ROOT)) for f in before.keys() | after.keys() if before.get(f) != after.get(f))
    if changed: raise SystemExit("export/clean changed: " + ", ".join(changed) + " (make notebooks, then commit)")
    sh(sys.executable, "tools/readme.py", "--check")

def rules(): sh(sys.executable, "tools/check_notebooks.py")

# `coverage` executes every cell that nbdev_test would; this one proves that nbdev's own command does
SAMPLE = r"^(00_core|01_data|02_korean|03_tokens|05_metrics|07_citing|10_colloquial|11_morphology|13_judge|15_citations|17_grading_route|18_fallback|80_cli_ask|00_records|05_targets|13_store_rows)\.ipynb$"

def tests(): sh("nbdev_test", "--n_workers", "2", "--do_print", "--file_re", SAMPLE)

def tests_all(): sh("nbdev_test", "--n_workers", "2", "--do_print")

# a minute and more each; what they export is executed by other notebooks. Their stored outputs are compared by `check.py coverage-all` only
LONG = ("08_relevance", "16_expansion_hyde", "16_rerank", "17_grading_scores", "30_ablation")

# executed and compared, but not traced (which costs half as much again): their modules are traced where others use them
HEAVY = ("index", "50_benchmark", "20_persona", "30_experiment", "18_answering", "16_query_expansion", "20_persona_improve", "12_semantic_eval", "14_sweep", "04_hybrid_index", "50_benchmark_answers",
         "08_campus_search", "17_grading", "08_rewriter", "14_weights", "12_semantic_calibration", "08_synonyms", "40_report", "80_cli_test", "20_persona_rounds")
ONE = {k: "1" for k in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")}      # two notebooks at a time on two cores

def coverage_all(): coverage(())

def coverage(left=LONG):
    for old in ROOT.glob(".coverage*"):
        if old.name != ".coveragerc": old.unlink()
    bad, run = 0, ("tools/nb_run.py", "--imported", "--jobs", "2")
    # the parent only starts kernels: what is measured is in them
    for command in (("coverage", "run", "--rcfile=.coveragerc", *run, "--leave", *HEAVY, *LONG), (sys.executable, *run, *(f"nbs/{n}.ipynb" for n in (*HEAVY, *LONG) if n not in left))):
        try: sh(*command, **ONE)
        except subprocess.CalledProcessError: bad += 1          # what the other half has to say is worth knowing, too
    if left: print("left out: " + ", ".join(left))
    sh("coverage", "combine", "--rcfile=.coveragerc", "--quiet")
    sh("coverage", "report", "--rcfile=.coveragerc", f"--fail-under={MIN_COVERAGE}")
    if bad: raise SystemExit("notebooks failed: see above")

def wheel(): sh(sys.executable, "tools/wheel_check.py")

def wheel_extras(): sh(sys.executable, "tools/wheel_check.py", "--extras")

def bench(): sh(sys.executable, "benchmarks/run_all.py", "--slice")

CHECKS = [clean, rules, tests, coverage, wheel, bench]
ASKED = {"tests-all": tests_all, "coverage-all": coverage_all, "wheel-extras": wheel_extras}      # only by name

def main(names):
    known = {**{c.__name__: c for c in CHECKS}, **ASKED}
    if unknown := set(names) - known.keys(): sys.exit(f"unknown check {', '.join(sorted(unknown))}; there are: {', '.join(known)}")
    chosen = [c for n, c in known.items() if n in names] if names else CHECKS
    failed = []
    for check in chosen:
        print(f"== {check.__name__}", flush=True); start = time.perf_counter()
        try: check()
        except (subprocess.CalledProcessError, SystemExit) as e: failed.append(check.__name__); print(f"FAILED {check.__name__}: {e}", flush=True)
        print(f"== {check.__name__}: {time.perf_counter()-start:.0f} s", flush=True)
    print(f"{len(chosen)-len(failed)} passed, {len(failed)} failed" )
    return 1 if failed else 0

if __name__ == "__main__": sys.exit(main(sys.argv[1:]))

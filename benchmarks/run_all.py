"""Every benchmark, its figure beside its target.

usage: python benchmarks/run_all.py [FOLDER_OF_EXTERNAL_SETS] [--slice [--keep]] [--few] [--stale] [--only NAME ...] [--list]
Without a folder only what the repository itself holds is measured. The sets and where they come from: benchmarks/README.md.
Each script keeps its figures in benchmarks/results (kept.py); `--stale` runs those whose code or data have changed since. Two at a time, the longest first;
those that hold a time run alone. `--slice` runs a small part of each on the bundled collection and compares its figures with benchmarks/results/slice:
in two processes, each of which loads the library once. `--slice --keep` keeps them. `--few`: only the few that tell most for their time (FEW).
"""
import argparse, contextlib, io, json, logging, os, runpy, subprocess, sys, time, traceback
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path

import kept

HERE = Path(__file__).parent
sys.path.append(str(HERE.parent/"tools"))
from slots import slot
os.environ["RAG_QUALITY_STRICT"] = "1"      # no wall: what an optional step raises fails the benchmark
ANSWERS = ["faithfulness.py", "citations.py", "hallucination_filter.py", "refusal.py", "answering.py"]     # phase 15 and 18

PERSONA = ["persona_context.py", "persona_fact_check.py", "persona_ladder.py", "persona_endpoints.py", "persona_realism.py", "persona_faults.py", "persona_loop.py", "persona_session.py"]

TOOLS = ("mteb", "mlcroissant", "deepeval", "haystack", "llama_index", "ragas")      # of tools/others.txt: what is measured with them is measured where all are

FEW = ("transformation.py", "citations.py", "semantic.py")      # rewriting, citing, meaning: about five seconds of CPU each, on every push

def own(small):
    "Benchmarks that need nothing from outside."
    yield ["hanbit.py"]
    yield ["walls.py", *(["--slice"] if small else [])]
    yield ["conjugation.py"]
    yield ["transformation.py"]
    yield ["speed.py", *(["--slice"] if small else [])]
    yield ["robustness.py", *(["--slice"] if small else ["--every", "10"])]
    yield ["retrieval.py", str(HERE.parent/"data/hanbit"), *(["--slice"] if small else [])]
    yield ["formality.py", str(HERE.parent/"data/hanbit/queries.jsonl")]
    for name in ("ladder.py", "stages.py", "contrast.py", "claim_kinds.py", "ablation.py", "sweep.py", "tasks.py"): yield [name, *(["--slice"] if small else [])]
    for path in sorted(HERE.glob("phase_*.py")): yield [path.name, *(["--slice"] if small else [])]
    yield ["fusion_weight.py", *(["--slice"] if small else [])]
    yield ["weights.py", str(HERE.parent/"data/hanbit"), *(["--slice"] if small else [])]
    yield ["faiss_search.py", *(["--slice"] if small else [])]
    yield ["gpu_search.py", *(["--slice"] if small else [])]
    yield ["ray_sweep.py", *(["--slice"] if small else [])]
    yield ["serve.py", *(["--slice"] if small else [])]
    if all(map(find_spec, TOOLS)): yield from (["real_forms.py"], ["hanbit_folder.py"], ["mteb_task.py"])
    yield ["store.py", *(["--slice"] if small else [])]
    yield ["claims_bank.py"]
    for name in ("asked.py", "asks.py", "reading.py"): yield [name, *(["--slice"] if small else [])]
    yield ["typing_slips.py", *(["--slice"] if small else [])]
    yield ["house.py"]
    yield ["quantities.py"]
    yield ["import_fuzz.py", *(["--slice"] if small else [])]
    yield ["references.py"]
    yield ["claims_parts.py"]
    yield ["semantic.py", *(["--slice"] if small else [])]
    yield ["llm_faults.py", *(["--slice"] if small else [])]
    if small: yield ["llm_batch.py", "--slice"]
    else: yield ["llm_limits.py"]
    yield ["judging.py", *(["--slice"] if small else [])]
    for more in ([], ["--faults"]): yield ["expansion.py", str(HERE.parent/"data/hanbit"), *more, *(["--slice"] if small else ["--split", "dev"])]
    for name in ANSWERS: yield [name, *(["--slice"] if small else [])]
    for name in ("rules.py", "elsewhere.py", "outcomes.py", "judge_beside.py"): yield [name, *(["--slice"] if small else [])]
    yield ["grading.py", *(["--slice"] if small else [])]
    yield ["query_analysis.py", *(["--slice"] if small else [])]
    yield ["learn.py", *(["--slice"] if small else [])]
    if not small: yield ["learn.py", "--terms"]
    yield ["synonyms_build.py", "--check"]
    for name in PERSONA: yield [name, *(["--slice"] if small else [])]
    if small: yield ["knowledge.py", "--slice"]
    if small: yield ["knowledge_entries.py", "--slice"]

def external(folder):
    "Benchmarks over the sets found in a folder."
    sets = {"sae4k/dev.tsv": ["sae4k.py", "{}/sae4k/dev.tsv"],
            "stylekqc/dev.tsv": ["formality.py", "{}/stylekqc/dev.tsv"],
            "smilestyle/dev.tsv": ["formality.py", "{}/smilestyle/dev.tsv"],
            "regs/queries.jsonl": ["formality.py", "{}/regs/queries.jsonl"],
            "korsts/dev.tsv": ["encoders.py", "{}/korsts/dev.tsv"],
            "klue-sts/dev.tsv": ["encoders.py", "{}/klue-sts/dev.tsv"],
            "realrag/dev.jsonl": ["claims_parts.py", "--answers", "{}/realrag/dev.jsonl"],
            "autorag/corpus.jsonl": ["retrieval.py", "{}/autorag"],
            "regs/corpus.jsonl": ["retrieval.py", "{}/regs"],
            "regs/qrels/dev.tsv": ["weights.py", "{}/regs"],
            "regs/needs.jsonl": ["speed.py", "{}/regs"],
            "regs/qrels": ["knowledge_entries.py", "{}/regs"],
            "regs/llm_rewrites.dev.jsonl": ["expansion.py", "{}/regs"],
            "docs/rulebook.hwpx": ["import_documents.py", "{}/docs"]}
    yield ["robustness.py", str(folder), "--every", "20"]      # all of it: about an hour of CPU
    if (folder/"regs/queries.jsonl").is_file(): yield ["transformation.py", f"{folder}/regs/queries.jsonl"]
    if (folder/"regs/needs.jsonl").is_file(): yield ["judge_rules.py", f"{folder}/regs/needs.jsonl", f"{folder}/regs/corpus.jsonl"]
    if (folder/"regs/needs.jsonl").is_file(): yield from ([name, str(folder)] for name in (*ANSWERS, "grading.py", "knowledge.py"))
    for name in ("regs", "law"):
        if (folder/name/"queries.jsonl").is_file(): yield ["persona_realism.py", f"{folder}/{name}"]
    if (folder/"regs/llm_rewrites.dev.jsonl").is_file(): yield ["llm_replies.py", str(folder)]
    if (folder/"regs/needs.jsonl").is_file(): yield ["persona_fact_check.py", str(folder), "--split", "all"]
    if (folder/"law/qrels/dev.tsv").is_file(): yield ["learn.py", str(folder), "--full"]
    if pairs := [f"{folder}/{name}/dev.tsv" for name in ("korsts", "klue-sts") if (folder/name/"dev.tsv").is_file()]: yield ["semantic.py", *pairs]
    for needed, command in sets.items():
        if (folder/needed).exists(): yield [c.format(folder) for c in command]
        else: print(f"== not measured: {needed} is not in the folder")

ONE = {k: "1" for k in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")}      # two processes on two cores
ALONE = ("speed.py", "llm_faults.py", "llm_limits.py", "persona_endpoints.py", "serve.py", "store.py")      # a busy machine would fail them

def cost(command) -> float:
    "CPU seconds of a command the last time that it was kept; a new one first."
    path = kept.RESULTS/f"{kept.called(command)[0]}.json"
    return json.loads(path.read_text(encoding="utf8"))["figures"].get("cpu_seconds", 0.) if path.is_file() else float("inf")

def measured(command) -> bool:
    "Run one in a process of its own, what it printed shown when it has ended; did it succeed?"
    script, *rest = command
    start = time.perf_counter()
    done = subprocess.run([sys.executable, HERE/script, *rest], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env={**os.environ, **ONE})
    said = f"== {' '.join(map(str, command))} ({time.perf_counter() - start:.0f} s)\n{done.stdout}"
    print(said if not done.returncode else f"{said}FAILED {' '.join(map(str, command))}\n", end="", flush=True)
    return done.returncode == 0

def whole(commands) -> list:
    "Run these, two at a time and the longest first; those that hold a time alone, after them. What failed."
    beside = sorted((c for c in commands if c[0] not in ALONE), key=cost, reverse=True)
    alone = [c for c in commands if c[0] in ALONE]
    with ThreadPoolExecutor(2) as pool: right = [*pool.map(measured, beside), *map(measured, alone)]
    return [c for c, good in zip([*beside, *alone], right) if not good]

def in_this_process(command) -> tuple[bool, str]:
    "(did it succeed, what it printed): the script run as its own main, with the environment put back after it."
    script, *rest = command; out, argv, environ, place = io.StringIO(), sys.argv, dict(os.environ), os.getcwd()
    sys.argv = [str(HERE/script), *rest]
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        try: code = 0; runpy.run_path(str(HERE/script), run_name="__main__")
        except SystemExit as e: code = e.code or 0
        except Exception: code = 1; traceback.print_exc(file=out)
    sys.argv = argv; os.environ.clear(); os.environ.update(environ); os.chdir(place); logging.disable(logging.NOTSET); logging.getLogger("rag_quality").setLevel(logging.NOTSET)
    if not isinstance(code, int): out.write(f"{code}\n")
    return not code, out.getvalue()

def some(commands) -> int:
    "Run these one after the other in this process, each with its time; how many failed."
    bad = 0; sys.path.insert(0, str(HERE))
    for command in commands:
        start = time.perf_counter()
        with slot(): right, said = in_this_process(command)
        bad += not right
        print(f"== {' '.join(map(str, command))} ({time.perf_counter() - start:.0f} s)\n{said}{'' if right else 'FAILED ' + ' '.join(map(str, command)) + chr(10)}", end="", flush=True)
    return bad

def slices(commands) -> list:
    "Slices: two processes, each of which loads the library once; those that hold a time alone. What failed."
    beside, failed = [c for c in commands[::-1] if c[0] not in ALONE], []
    halves = [subprocess.Popen([sys.executable, __file__, "--some", json.dumps(beside[i::2])], env={**os.environ, **ONE}) for i in (0, 1) if beside[i::2]]
    if any([p.wait() for p in halves]): failed.append(["one of those above"])
    return failed + [c for c in commands if c[0] in ALONE and not measured(c)]

def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("folder", nargs="?", type=Path)
    ap.add_argument("--slice", action="store_true")
    ap.add_argument("--keep", action="store_true", help="with --slice: keep these figures as the ones that later slices are compared with")
    ap.add_argument("--few", action="store_true", help="only the few that tell most for their time")
    ap.add_argument("--stale", action="store_true", help="only those whose kept result is missing or older than what it measures")
    ap.add_argument("--only", nargs="+", default=[], metavar="NAME", help="only these scripts, e.g. grading")
    ap.add_argument("--list", action="store_true", help="print the commands and run none")
    ap.add_argument("--some", help=argparse.SUPPRESS)
    args = ap.parse_args()
    if args.folder and not args.folder.is_dir(): sys.exit(f"no such folder: {args.folder}")
    if args.some: return bool(some(json.loads(args.some)))
    commands = [[c[0], *map(str, c[1:])] for c in (*own(args.slice), *(external(args.folder) if args.folder else ()))]
    if unknown := set(args.only) - {Path(c[0]).stem for c in commands}: sys.exit(f"no such benchmark: {', '.join(sorted(unknown))}")
    if args.few: commands = [c for c in commands if c[0] in FEW]
    if args.only: commands = [c for c in commands if Path(c[0]).stem in args.only]
    if args.stale: commands = [c for c in commands if kept.stale(kept.called(c)[0])]
    if args.slice: os.environ["RAG_QUALITY_COMPARE"] = "1"
    if args.keep: os.environ["RAG_QUALITY_KEEP_SLICE"] = "1"
    if args.list: print("\n".join(" ".join(c) for c in commands)); return 0
    failed = slices(commands) if args.slice else whole(commands)
    for command in failed: print(f"FAILED {' '.join(map(str, command))}")
    return 1 if failed else 0

if __name__ == "__main__": sys.exit(main())

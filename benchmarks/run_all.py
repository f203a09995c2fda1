"""Every benchmark, its figure beside its target.

usage: python benchmarks/run_all.py [FOLDER_OF_EXTERNAL_SETS] [--slice]
Without a folder only what the repository itself holds is measured. The sets and where they come from: benchmarks/README.md.
`--slice` runs a small part of each on the bundled collection, two at a time, so that the scripts can't rot; those that hold a time run alone.
"""
import argparse, subprocess, sys, time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).parent
ANSWERS = ["faithfulness.py", "citations.py", "hallucination_filter.py", "refusal.py", "answering.py"]     # phase 15 and 18

PERSONA = ["persona_context.py", "persona_fact_check.py", "persona_ladder.py", "persona_endpoints.py", "persona_realism.py", "persona_faults.py", "persona_loop.py", "persona_session.py"]

def own(small):
    "Benchmarks that need nothing from outside."
    yield ["hanbit.py"]
    yield ["conjugation.py"]
    yield ["transformation.py"]
    yield ["speed.py", *(["--slice"] if small else [])]
    yield ["retrieval.py", str(HERE.parent/"data/hanbit")]
    yield ["formality.py", str(HERE.parent/"data/hanbit/queries.jsonl")]
    yield ["fusion_weight.py", *(["--slice"] if small else [])]
    yield ["weights.py", str(HERE.parent/"data/hanbit")]
    yield ["faiss_search.py", *(["--slice"] if small else [])]
    yield ["gpu_search.py", *(["--slice"] if small else [])]
    yield ["ray_sweep.py", *(["--slice"] if small else [])]
    yield ["quantities.py"]
    yield ["claims_parts.py"]
    yield ["semantic.py", *(["--slice"] if small else [])]
    yield ["llm_faults.py", *(["--slice"] if small else [])]
    yield ["judging.py", *(["--slice"] if small else [])]
    for more in ([], ["--faults"]): yield ["expansion.py", str(HERE.parent/"data/hanbit"), *more, *(["--slice"] if small else ["--split", "dev"])]
    for name in ANSWERS: yield [name, *(["--slice"] if small else [])]
    yield ["grading.py", *(["--slice"] if small else [])]
    yield ["query_analysis.py", *(["--slice"] if small else [])]
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
            "regs/llm_rewrites.dev.jsonl": ["expansion.py", "{}/regs"]}
    if (folder/"regs/queries.jsonl").is_file(): yield ["transformation.py", f"{folder}/regs/queries.jsonl"]
    if (folder/"regs/needs.jsonl").is_file(): yield ["judge_rules.py", f"{folder}/regs/needs.jsonl", f"{folder}/regs/corpus.jsonl"]
    if (folder/"regs/needs.jsonl").is_file(): yield from ([name, str(folder)] for name in (*ANSWERS, "grading.py", "knowledge.py"))
    if (folder/"regs/queries.jsonl").is_file(): yield ["persona_realism.py", f"{folder}/regs"]
    if (folder/"regs/needs.jsonl").is_file(): yield ["persona_fact_check.py", str(folder), "--split", "all"]
    if pairs := [f"{folder}/{name}/dev.tsv" for name in ("korsts", "klue-sts") if (folder/name/"dev.tsv").is_file()]: yield ["semantic.py", *pairs]
    for needed, command in sets.items():
        if (folder/needed).exists(): yield [c.format(folder) for c in command]
        else: print(f"== not measured: {needed} is not in the folder")

ALONE = ("speed.py", "llm_faults.py", "persona_endpoints.py")      # a busy machine would fail them

def measured(command, quiet=False) -> tuple:
    "(command, did it succeed, what it printed, seconds)."
    start = time.perf_counter(); script, *rest = command
    done = subprocess.run([sys.executable, HERE/script, *rest], text=True, **(dict(stdout=subprocess.PIPE, stderr=subprocess.STDOUT) if quiet else {}))
    return command, done.returncode == 0, done.stdout or "", time.perf_counter() - start

def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("folder", nargs="?", type=Path); ap.add_argument("--slice", action="store_true")
    args = ap.parse_args()
    if args.folder and not args.folder.is_dir(): sys.exit(f"no such folder: {args.folder}")
    commands, failed = [*own(args.slice), *(external(args.folder) if args.folder else ())], []
    beside = [c for c in commands[::-1] if args.slice and c[0] not in ALONE]      # the long ones are last in the list
    with ThreadPoolExecutor(2) as pool:
        for command, right, said, seconds in pool.map(lambda c: measured(c, quiet=True), beside):
            print(f"== {' '.join(command)} ({seconds:.0f} s)\n{said}", end="", flush=True)
            if not right: failed.append(command)
    for command in commands:
        if command in beside: continue
        print(f"== {' '.join(command)}", flush=True)
        if not measured(command)[1]: failed.append(command)
    for command in failed: print(f"FAILED {' '.join(command)}")
    return 1 if failed else 0

if __name__ == "__main__": sys.exit(main())

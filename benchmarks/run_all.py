"""Every benchmark, its figure beside its target.

usage: python benchmarks/run_all.py [FOLDER_OF_EXTERNAL_SETS] [--slice]
Without a folder only what the repository itself holds is measured. The sets and where they come from: benchmarks/README.md.
`--slice` runs a small part of each on the bundled collection, so that the scripts can't rot.
"""
import argparse, subprocess, sys
from pathlib import Path

HERE = Path(__file__).parent

def own(small):
    "Benchmarks that need nothing from outside."
    yield ["conjugation.py"]
    yield ["transformation.py"]
    yield ["speed.py", *(["--slice"] if small else [])]
    yield ["retrieval.py", str(HERE.parent/"data/hanbit")]
    yield ["formality.py", str(HERE.parent/"data/hanbit/queries.jsonl")]

def external(folder):
    "Benchmarks over the sets found in a folder."
    sets = {"sae4k/dev.tsv": ["sae4k.py", "{}/sae4k/dev.tsv"],
            "stylekqc/dev.tsv": ["formality.py", "{}/stylekqc/dev.tsv"],
            "smilestyle/dev.tsv": ["formality.py", "{}/smilestyle/dev.tsv"],
            "regs/queries.jsonl": ["formality.py", "{}/regs/queries.jsonl"],
            "korsts/dev.tsv": ["encoders.py", "{}/korsts/dev.tsv"],
            "klue-sts/dev.tsv": ["encoders.py", "{}/klue-sts/dev.tsv"],
            "autorag/corpus.jsonl": ["retrieval.py", "{}/autorag"],
            "regs/corpus.jsonl": ["retrieval.py", "{}/regs"],
            "regs/needs.jsonl": ["speed.py", "{}/regs"]}
    if (folder/"regs/queries.jsonl").is_file(): yield ["transformation.py", f"{folder}/regs/queries.jsonl"]
    for needed, command in sets.items():
        if (folder/needed).is_file(): yield [c.format(folder) for c in command]
        else: print(f"== not measured: {needed} is not in the folder")

def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("folder", nargs="?", type=Path); ap.add_argument("--slice", action="store_true")
    args = ap.parse_args()
    if args.folder and not args.folder.is_dir(): sys.exit(f"no such folder: {args.folder}")
    commands, failed = [*own(args.slice), *(external(args.folder) if args.folder else ())], 0
    for script, *rest in commands:
        print(f"== {' '.join([script, *rest])}", flush=True)
        failed += subprocess.run([sys.executable, HERE/script, *rest]).returncode != 0
    return 1 if failed else 0

if __name__ == "__main__": sys.exit(main())

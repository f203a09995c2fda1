"""What the first question of every user would compute anew from the packaged bank, computed once and packaged: data/cache.

usage: python tools/warm.py [--check]
The bank is read in a fresh process with an empty cache; what a second process then loads goes into data/cache, compressed. Its names are
hashes of the bank and of Kiwi's version: another bank or another Kiwi finds nothing there and computes. The needs of all domains go into
one file, data/domains/needs.jsonl.xz: the wheel carries that instead of theirs. `--check` says whether today's bank and Kiwi find all of it
(1 where not: run without it, then commit).
"""
import argparse
import lzma
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
PACKAGED = ROOT/"data"/"cache"
NEEDS = ROOT/"data"/"domains"/"needs.jsonl.xz"
READ = """
import sys
import numpy as np
from rag_quality import core
load, seen = core.cache_load, []
def told(kind, key):
    found = load(kind, key)
    seen.append(f"{kind}/{key} {found is not None}")
    return found
core.cache_load = told
from rag_quality.claims.lexicon import shared_lexicon
from rag_quality.knowledge.bank import shared_rewriter
from rag_quality.persona.suggestions import learnt
shared_lexicon()
learnt(tuple(shared_rewriter().needs))
print("\\n".join(seen))
"""


def read(cache) -> dict[str, bool]:
    "kind/key -> was it there?, of a fresh process that reads the bank."
    done = subprocess.run([sys.executable, "-c", READ], check=True, capture_output=True, text=True, cwd=ROOT,
                          env={**os.environ, "RAG_QUALITY_CACHE": str(cache)})
    return {name: there == "True" for name, there in (line.split() for line in done.stdout.splitlines())}


def pack(source:Path, target:Path) -> None:
    "A file of the cache as an archive that numpy reads, as small as can be."
    target.parent.mkdir(parents=True, exist_ok=True)
    with np.load(source) as arrays, zipfile.ZipFile(target, "w", zipfile.ZIP_LZMA) as z:
        for k in arrays.files:
            info = zipfile.ZipInfo(f"{k}.npy")      # a fixed date: the same arrays give the same file
            info.compress_type = zipfile.ZIP_LZMA
            with z.open(info, "w") as out:
                np.lib.format.write_array(out, arrays[k], allow_pickle=False)


def needs() -> bytes:
    "The needs of all domains, a line each, in the order in which `load_bank` reads them; the same needs give the same bytes."
    files = sorted(NEEDS.parent.glob("*/*.jsonl"))
    return lzma.compress(b"".join(p.read_bytes().rstrip(b"\n") + b"\n" for p in files), preset=9 | lzma.PRESET_EXTREME)


def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("--check", action="store_true")
    if ap.parse_args().check:
        with tempfile.TemporaryDirectory() as cache:
            missing = sorted(name for name, there in read(cache).items() if not there)
        print("missing in data/cache: " + ", ".join(missing) if missing else "data/cache is today's")
        stale = not NEEDS.is_file() or lzma.decompress(NEEDS.read_bytes()) != lzma.decompress(needs())
        if stale:
            print(f"{NEEDS.relative_to(ROOT)} is not what the domains' files say")
        return 1 if missing or stale else 0
    NEEDS.write_bytes(needs())
    print(f"{NEEDS.relative_to(ROOT)}  {NEEDS.stat().st_size:,} bytes")
    shutil.rmtree(PACKAGED, ignore_errors=True)
    with tempfile.TemporaryDirectory() as cache:
        read(cache)
        for name in sorted(name for name, there in read(cache).items() if there):
            pack(Path(cache)/f"{name}.npz", PACKAGED/f"{name}.npz")
            print(f"{name}  {(PACKAGED/f'{name}.npz').stat().st_size:,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""One whole session of persona testing on the bundled collection: its time, its repetition, its recovery from kill -9.

usage: python benchmarks/persona_session.py [--slice]
10 personas x 6 questions and 10 dialogues x 5 turns in a new process (imports and Kiwi's load among it); then a smaller session twice with one seed, and one that
is killed (SIGKILL) at moments drawn by the seed and resumed until it ends: the same files but for clock values?
"""
import argparse, random, signal, subprocess, sys, tempfile, time
from pathlib import Path

from rag_quality.persona.store import same_but_times

import kept

def command(out, personas, queries, turns, resume=False):
    return [sys.executable, "-c", f"from rag_quality.persona import run_session; from rag_quality.data import bundled; run_session(bundled(), personas={personas!r}, queries={queries}, turns={turns}, out={str(out)!r}, resume={resume})"]

def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0]); ap.add_argument("--slice", action="store_true"); small = ap.parse_args().slice
    bad, some = 0, ["freshman"] if small else ["freshman", "manager", "distressed", "new_professor"]
    with tempfile.TemporaryDirectory() as d:
        d = Path(d)
        if not small:
            start = time.perf_counter(); subprocess.run(command(d/"whole", None, 6, 5), check=True)
            print(f"10 personas x 6 queries, 10 dialogues x 5 turns: {time.perf_counter() - start:.1f} s (target 60)", flush=True)
        for name in ("a", "b")[:1 if small else 2]: subprocess.run(command(d/name, some, 3, 3 if small else 5), check=True)
        if not small: differ = same_but_times(d/"a", d/"b"); bad += bool(differ); print(f"same seed twice: {'the same files' if not differ else differ[:3]}", flush=True)
        rng, kills, resume = random.Random(0), 0, False
        while kills < (1 if small else 8):
            p = subprocess.Popen(command(d/"c", some, 3, 3 if small else 5, resume)); time.sleep(rng.uniform(6, 14))
            if p.poll() is not None: break
            p.send_signal(signal.SIGKILL); p.wait(); kills += 1; resume = (d/"c"/"session.json").is_file()
        if p.returncode: subprocess.run(command(d/"c", some, 3, 3 if small else 5, resume), check=True)
        differ = same_but_times(d/"a", d/"c"); bad += bool(differ); print(f"killed {kills} times and resumed: {'the same files' if not differ else differ[:3]}", flush=True)
    return bad

if __name__ == "__main__": kept.run(main, seed=0, modules=["rag_quality.persona"])

"""Which step of the default pipeline earns what: python benchmarks/ablation.py [--full] [--slice]

Each step taken from the default pipeline and each added to morpheme BM25, over test: paired differences of nDCG@10 by register.
Every ninth need; --full: all of them (nine times as long).
"""
import argparse

from rag_quality.experiment import ablate, ablation_systems
from rag_quality.data import bundled

import kept

def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("--full", action="store_true")
    ap.add_argument("--slice", action="store_true", help="every fortieth need")
    args = ap.parse_args()
    collection = bundled()
    systems = ablation_systems(collection)
    part = collection.some(40 if args.slice else 1 if args.full else 9)
    found = ablate(part, split="test", measures="nDCG@10", by="register")
    for key, name in (("colloquial", "구어"), ("formal", "문어")):
        rows = {}
        for s in systems[2:]:
            c = found.versus(s.adds_to, s.name, "nDCG@10", key)
            rows[s.name] = {"nDCG@10": found.row(s.name, key).intervals["nDCG@10"].mean, "견준 것": s.adds_to, "차이": c.difference, "95 %": [c.low, c.high], "n": c.n}
            print(f"{name} {s.name:14} {rows[s.name]['nDCG@10']:.3f}  {s.adds_to}보다 {c.difference:+.3f} [{c.low:+.3f}, {c.high:+.3f}] (n {c.n})")
        kept.note(**{name: rows})

if __name__ == "__main__": kept.run(main, split="test", seed=0)

"""An encoder on sentence similarity: Spearman between cosine and human score.

usage: python benchmarks/encoders.py [--encoder NAME] [--device D] [--precision P] FILE.tsv...
       rows: score <tab> ... <tab> sentence <tab> sentence (KorSTS, KLUE-STS)
       NAME: kiwi (the default), a model's folder, or a hub id
"""
import argparse, sys
from pathlib import Path

import numpy as np
from scipy.stats import bootstrap, spearmanr

from rag_quality.core import RagQualityError
from rag_quality.encoders import load_encoder
from rag_quality.korean import content_morphemes

import kept

def read(path):
    rows = [line.split("\t") for line in path.read_text(encoding="utf8").splitlines() if line.strip()]
    if any(len(r) < 3 for r in rows): raise ValueError("a row has fewer than three columns")
    return np.array([float(r[0]) for r in rows]), [r[-2] for r in rows], [r[-1] for r in rows]

def jaccard(a, b): return len(a & b) / max(len(a | b), 1)

def main(argv):
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("--encoder", default="kiwi"); ap.add_argument("--device", default="auto"); ap.add_argument("--precision", default="float32")
    ap.add_argument("paths", nargs="*")
    args = ap.parse_args(argv)
    if not args.paths: print(__doc__.strip()); return 2
    for path in map(Path, args.paths):
        if not path.is_file(): print(f"파일이 없습니다: {path}"); return 2
    try: encoder = load_encoder(args.encoder, device=args.device, precision=args.precision)
    except RagQualityError as e: print(e); return 2
    name = "KiwiEncoder" if args.encoder == "kiwi" else Path(args.encoder).name
    for path in map(Path, args.paths):
        try: gold, left, right = read(path)
        except ValueError as e: print(f"{path}: 점수<탭>...<탭>문장<탭>문장 꼴이 아닙니다 ({e})"); return 2
        try: cosine = (encoder.encode(left) * encoder.encode(right)).sum(1)
        except RagQualityError as e: print(e); return 2
        words = np.array([jaccard(set(content_morphemes(a)), set(content_morphemes(b))) for a, b in zip(left, right)])
        rho = lambda x, y: spearmanr(x, y)[0]
        ci = bootstrap((cosine, gold), rho, paired=True, n_resamples=500, method="percentile", rng=np.random.default_rng(0)).confidence_interval
        print(f"{path.parent.name}/{path.name}  n={len(gold)}  Spearman {name} {100*rho(cosine, gold):.1f} [{100*ci.low:.1f}, {100*ci.high:.1f}]"
              f"  형태소 Jaccard {100*rho(words, gold):.1f}")
    return 0

if __name__ == "__main__": kept.run(lambda: main(sys.argv[1:]), split="dev", seed=0)

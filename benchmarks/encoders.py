"""KiwiEncoder on sentence similarity: Spearman between cosine and human score.

usage: python benchmarks/encoders.py FILE.tsv...     rows: score <tab> ... <tab> sentence <tab> sentence (KorSTS, KLUE-STS)
"""
import sys
from pathlib import Path

import numpy as np
from scipy.stats import bootstrap, spearmanr

from rag_quality.encoders import KiwiEncoder
from rag_quality.korean import content_morphemes

def read(path):
    rows = [line.split("\t") for line in path.read_text(encoding="utf8").splitlines() if line.strip()]
    if any(len(r) < 3 for r in rows): raise ValueError("a row has fewer than three columns")
    return np.array([float(r[0]) for r in rows]), [r[-2] for r in rows], [r[-1] for r in rows]

def jaccard(a, b): return len(a & b) / max(len(a | b), 1)

def main(paths):
    if not paths: print(__doc__.strip()); return 2
    encoder = KiwiEncoder()
    for path in map(Path, paths):
        if not path.is_file(): print(f"파일이 없습니다: {path}"); return 2
        try: gold, left, right = read(path)
        except ValueError as e: print(f"{path}: 점수<탭>...<탭>문장<탭>문장 꼴이 아닙니다 ({e})"); return 2
        cosine = (encoder.encode(left) * encoder.encode(right)).sum(1)
        words = np.array([jaccard(set(content_morphemes(a)), set(content_morphemes(b))) for a, b in zip(left, right)])
        rho = lambda x, y: spearmanr(x, y)[0]
        ci = bootstrap((cosine, gold), rho, paired=True, n_resamples=500, method="percentile", rng=np.random.default_rng(0)).confidence_interval
        print(f"{path.parent.name}/{path.name}  n={len(gold)}  Spearman KiwiEncoder {100*rho(cosine, gold):.1f} [{100*ci.low:.1f}, {100*ci.high:.1f}]"
              f"  형태소 Jaccard {100*rho(words, gold):.1f}")
    return 0

if __name__ == "__main__": sys.exit(main(sys.argv[1:]))

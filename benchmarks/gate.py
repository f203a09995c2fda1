"""How often the gate fails pairs in which nothing changed, and catches losses of twice the MDE: python benchmarks/gate.py [--pairs N]

Every pair goes through `gate` with its stated bars (the false-alarm simulation inside it is off). No change: a bot that answers each case right with
its own probability, asked twice (pass or not); the same with graded scores; two metrics at once (Holm); the nDCG@10 of two real systems
on hanbit dev, swapped by a coin for each need and the needs drawn anew. Loss: the same bots whose every case is worse, so that the mean falls by
twice the MDE that `compare` told of the pair without a change. Beside them a naive gate (the mean fell: fail). Non-inferiority: a true loss of just
the margin must not pass more often than 1 in 40. N pairs without a change (1,000), a quarter of them with a loss. The told false-alarm rate is compared with the one counted.
"""
import argparse

import numpy as np

from rag_quality.core import log
from rag_quality.data import bundled
from rag_quality.experiment import measurable, pipeline
from rag_quality.experiment.gate import gate
from rag_quality.experiment.runs import SavedRun
from rag_quality.metrics import Scores, compare, evaluate

import kept

TOLD = {"queries": "q", "k": "5", "judge": "rules"}

def run(metrics, units=None):
    "A saved run of {metric: values}."
    n = len(next(iter(metrics.values())))
    per = {m: {f"q{i}": float(v) for i, v in enumerate(values)} for m, values in metrics.items()}
    return SavedRun("judge", "simulated", Scores(per, units or {}), {f"q{i}": "" for i in range(n)}, {}, TOLD)

def passes(rng, n, lost=0.):
    "Before and after of a bot that passes each case by chance: 'm' 0 or 1."
    p = rng.beta(4, 2, n)
    q = np.clip(p * (1 - lost / p.mean()), 0, 1)
    return run({"m": rng.random(n) < p}), run({"m": rng.random(n) < q})

def grades(rng, n, lost=0.):
    "Graded scores in quarters that waver from one time to the next."
    true = rng.beta(3, 2, n)
    def asked(shift): return np.clip(np.round(4 * (true - shift + rng.normal(0, .15, n))) / 4, 0, 1)
    return run({"m": asked(0.)}), run({"m": asked(lost)})

def two(rng, n, lost=0.):
    "Two metrics of the same answers."
    true = rng.beta(3, 2, n)
    def asked(shift):
        common = rng.normal(0, .1, n)
        return {m: np.clip(true - shift + common + rng.normal(0, .15, n), 0, 1) for m in ("m", "n")}
    return run(asked(0.)), run(asked(lost))

def systems():
    "Needs x 2: mean nDCG@10 of each need of hanbit dev by whitespace BM25 and by morphemes."
    part, _ = measurable(bundled(), "dev")
    qrels = {q.query_id: part.qrels.get(q.query_id, {}) for q in part.queries}
    a, b = (evaluate(qrels, s.run(part.judged, 100), "nDCG@10").per_query["nDCG@10"] for s in pipeline(part)[:3:2])
    needs = {}
    for q in part.queries:
        if a[q.query_id] is not None:
            needs.setdefault(q.metadata.get("pair") or q.query_id, []).append((a[q.query_id], b[q.query_id]))
    return np.array([np.mean(v, axis=0) for v in needs.values()])

def real(table):
    def made(rng, n, lost=0.):
        drawn = table[rng.integers(len(table), size=n)]
        swap = rng.random(n) < .5
        before, after = np.where(swap, drawn[:, 0], drawn[:, 1]), np.where(swap, drawn[:, 1], drawn[:, 0])
        return run({"m": before}), run({"m": after - lost})
    return made

def shares(make, n, pairs, seed, lost=0., **bars):
    "Shares of verdicts over simulated pairs, the naive gate's, and the false-alarm rate that the first ones tell."
    rng, verdicts, naive, told = np.random.default_rng(seed), [], [], []
    for i in range(pairs):
        before, after = make(rng, n, lost)
        found = gate(before, after, simulations=300 if i < 20 and not lost else 0, seed=i, **bars)
        verdicts.append(found.verdict)
        naive.append(any(after.scores.mean(m) < before.scores.mean(m) for m in before.scores.measures))
        if i < 20 and found.false_alarm.failed is not None: told.append(found.false_alarm.failed)
    share = {v: round(verdicts.count(v) / pairs, 4) for v in ("fail", "undecidable", "pass")}
    return share | {"naive": round(float(np.mean(naive)), 4)} | ({"told": round(float(np.mean(told)), 4)} if told else {})

def main():
    ap = argparse.ArgumentParser(); ap.add_argument("--pairs", type=int, default=1000); args = ap.parse_args()
    log.setLevel("ERROR")
    table, rows = systems(), []
    kinds = {"pass or fail, 100 cases": (passes, 100), "graded, 60 cases": (grades, 60), "two metrics, 60 cases": (two, 60), f"two systems on hanbit dev, {len(table)} needs": (real(table), len(table))}
    for name, (make, n) in kinds.items():
        metrics = ("m", "n") if make is two else ("m",)
        budgets = dict.fromkeys(metrics, 0.)
        none = shares(make, n, args.pairs, 1, budgets=budgets)
        mde = float(np.mean([compare(*(r.scores for r in make(np.random.default_rng(s), n)), "m").mde for s in range(20)]))
        loss = shares(make, n, max(args.pairs // 4, 20), 2, lost=2 * mde, budgets=budgets)
        row = {"pairs": name, "no_change_fails": none["fail"], "no_change_undecidable": none["undecidable"], "naive_fails": none["naive"], "told": none["told"], "mde": round(mde, 4), "twice_mde_caught": loss["fail"]}
        rows.append(row)
        print(f"{name}: no change fails {none['fail']:.3f} (naive {none['naive']:.3f}, told by the gate {none['told']:.3f}), undecidable {none['undecidable']:.3f}; a loss of twice the MDE ({mde:.3f}) caught {loss['fail']:.3f}")
        assert none["fail"] <= .05 and none["fail"] + none["undecidable"] <= .07 and loss["fail"] >= .95, row
    edge = shares(grades, 60, args.pairs // 2, 3, lost=.05, margins={"m": .05})
    within = shares(grades, 60, args.pairs // 4, 4, margins={"m": .05})
    print(f"non-inferiority with a margin of 0.05, graded, 60 cases: a loss of the margin passes {edge['pass']:.3f}, no change passes {within['pass']:.3f}, fails {within['fail']:.3f}")
    kept.note(n=args.pairs, split="simulated, hanbit dev", seed=1, modules=["rag_quality.experiment.gate"], pairs=rows, margin={"edge_passes": edge["pass"], "no_change_passes": within["pass"], "no_change_fails": within["fail"]})

if __name__ == "__main__": kept.run(main)

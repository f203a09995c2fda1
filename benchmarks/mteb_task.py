"""hanbit measured by mteb and by us, the same searches and a baseline of mteb's own: python benchmarks/mteb_task.py [FOLDER]

The searches (BM25, hybrid, the whole pipeline) go through `mteb.evaluate` over the task made of the collection's files, and through `run_experiment`;
nDCG@10 of each register must agree to a thousandth. FOLDER: another collection in BEIR's layout with a judged test split (dev where it has no test).
Nothing is downloaded. Needs rag-quality[mteb]; without it 'not measured' is printed. `mteb/baseline-bm25s` is mteb's own BM25, which cuts Korean into characters.
"""
import os, sys
from importlib.util import find_spec
from pathlib import Path

for name in ("HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE", "TRANSFORMERS_OFFLINE"): os.environ[name] = "1"

from rag_quality.data import bundled, load_collection
from rag_quality.experiment import run_experiment
from rag_quality.experiment.mteb import mteb_model, mteb_task

import kept

TOLERANCE, NAMES = 1e-3, {"colloquial": "구어", "formal": "문어", "default": "모두"}

def theirs(model, task) -> dict[str, float]:
    "nDCG@10 of each subset as mteb says it."
    import mteb
    found = mteb.evaluate(model, task, cache=None, show_progress_bar=False, co2_tracker=False)
    return {s["hf_subset"]: s["ndcg_at_10"] for split in found.task_results[0].scores.values() for s in split}

def baseline(task) -> dict[str, float]:
    "mteb's own BM25; {} with a word why where it cannot run here."
    import mteb
    try: model = mteb.get_model("mteb/baseline-bm25s")
    except Exception as e: print(f"mteb's BM25 is not measured: {str(e)[:120]}"); return {}
    return theirs(model, task)

def main():
    if find_spec("mteb") is None: print("mteb를 재지 않음: pip install 'rag-quality[mteb]'"); return 1
    from mteb import __version__ as version
    folder = next((Path(w) for w in sys.argv[1:] if not w.startswith("-")), None)
    collection = load_collection(folder) if folder else bundled()
    split = "test" if "test" in collection.splits else next(iter(collection.splits))
    def task(): return mteb_task(folder and collection, splits=split)
    subsets = task().hf_subsets
    by = "register" if len(subsets) > 1 else None
    table, worst = {}, 0.
    for label, build in {"BM25": "bm25", "BM25 + KiwiEncoder": "hybrid", "기본 구성": "default"}.items():
        model = mteb_model(build)
        said, ours = theirs(model, task()), run_experiment(collection, [model.build(collection)], measures="nDCG@10", by=by, split=split).rows
        for r in ours:
            key = r.slice if by else "default"
            if key not in said: continue
            one = r.intervals["nDCG@10"]
            table[f"{NAMES.get(key, key)}, {label}"] = {"mteb": said[key], "우리": one.mean, "95 %": [one.low, one.high], "n": one.n_scored}
            worst = max(worst, abs(said[key] - one.mean))
    for key, value in baseline(task()).items(): table[f"{NAMES.get(key, key)}, mteb의 BM25"] = {"mteb": value, "우리": None, "95 %": None, "n": table[f"{NAMES.get(key, key)}, BM25"]["n"]}
    for key, row in table.items(): print(f"{key}: mteb {row['mteb']:.4f}, " + (f"ours {row['우리']:.4f}, n {row['n']}" if row["우리"] is not None else f"n {row['n']}"))
    print(f"nDCG@10, the largest difference between mteb and us: {worst:.6f} (at most {TOLERANCE})")
    kept.note(**{"nDCG@10": table}, n=sum(r["n"] for k, r in table.items() if k.endswith(", BM25")), split=split, seed=0, versions={"mteb": version})
    return int(worst > TOLERANCE)

if __name__ == "__main__": kept.run(main)

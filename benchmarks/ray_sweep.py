"""The sweep on a Ray cluster beside the local one: python benchmarks/ray_sweep.py [COLLECTION] [--slice]

Starts two Ray nodes of one worker each on this machine, runs the sweep over them, kills the second node in the middle (its running
task is lost) and compares the DataFrame with that of the local run, bit for bit. COLLECTION: a BEIR folder; without it the bundled one.
"""
import argparse, os, sys, tempfile, threading, time, uuid
from pathlib import Path

import pandas as pd

from rag_quality.experiment import sweep as sweeping
from rag_quality.core import RagQualityError
from rag_quality.data import bundled, load_collection

import kept

GRID = dict(tokenizers=("kiwi", "whitespace"), bm25=((0.9, 0.4), (1.5, 0.75)), dims=(None, 192, 128, 64), pca=(False, True), quantisation=("none", "fp16", "int8"),
            index=("flat", "hnsw", "ivf"), normalizations=("minmax", "max"), ks=(5, 10), measures=("nDCG@10", "R@10"))

def noted(folder):
    "`spec_rows`, leaving a file when it starts (named by its node) and removing it when it ends."
    def spec_rows(*args):
        import ray
        from rag_quality.experiment.sweep import spec_rows
        mark = Path(folder, f"{ray.get_runtime_context().get_node_id()}.{uuid.uuid4().hex}"); mark.touch()
        rows = spec_rows(*args)
        mark.unlink(); Path(folder, f"done.{uuid.uuid4().hex}").touch()
        return rows
    return spec_rows

def killed_run(ray, collection, grid, done):
    "The sweep over two nodes, the second killed while it works, once `done` tasks have ended: (frame, tasks lost, nodes alive, seconds)."
    from ray.cluster_utils import Cluster
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    second, lost = cluster.add_node(num_cpus=1), []
    ray.init(address=cluster.address, log_to_driver=False, logging_level="error")
    with tempfile.TemporaryDirectory() as folder:
        def kill():
            end = time.time() + 300
            while time.time() < end and not lost:
                if len(list(Path(folder).glob("done.*"))) >= done: lost.extend(Path(folder).glob(f"{second.node_id}.*"))
                time.sleep(0.01)
            cluster.remove_node(second, allow_graceful=False)
        thread, original = threading.Thread(target=kill), sweeping.spec_rows
        sweeping.spec_rows = noted(folder); thread.start(); start = time.perf_counter()
        try: frame = sweeping.sweep(collection, engine="ray", **grid); seconds = time.perf_counter() - start; thread.join(); alive = sum(n["Alive"] for n in ray.nodes())
        finally: sweeping.spec_rows = original; ray.shutdown(); cluster.shutdown()
        return frame, sum(f.exists() for f in lost), alive, seconds            # the file of a task that was killed is still there

def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("collection", nargs="?"); ap.add_argument("--slice", action="store_true")
    args = ap.parse_args()
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal"); os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try: import ray
    except ImportError: print("not measured: ray is not installed (pip install 'rag-quality[ray]')"); return 0
    try: collection = load_collection(args.collection) if args.collection else bundled()
    except RagQualityError as e: print(e, file=sys.stderr); return 2
    grid = GRID | ({"bm25": ((0.9, 0.4),), "dims": (None, 64), "normalizations": ("minmax",)} if args.slice else {})
    start = time.perf_counter(); local = sweeping.sweep(collection, **grid); seconds = time.perf_counter() - start
    frame, lost, alive, ray_seconds = killed_run(ray, collection, grid, 2)
    pd.testing.assert_frame_equal(frame, local, check_exact=True)
    print(f"{collection.name}, {len(collection.judged)} queries: {len(local):,} rows, equal bit for bit to the local run's ({seconds:.0f} s); Ray over two workers {ray_seconds:.0f} s, "
          f"one killed in the middle with {lost} task running on it, {alive} node alive at the end (target: the same DataFrame)")
    return 0 if lost and alive == 1 else 1

if __name__ == "__main__": kept.run(main)

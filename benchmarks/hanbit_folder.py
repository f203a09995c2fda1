"""data/hanbit as others read it: every configuration by Hugging Face `datasets`, every record set by `mlcroissant`: python benchmarks/hanbit_folder.py

Each row must be what the file says; the sizes and hashes of croissant.json must be today's. Nothing is downloaded. What is not installed is told and not measured.
"""
import os, sys, tempfile
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

for name in ("HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE"): os.environ[name] = "1"

import kept

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT/"tools"))
import dataset_card
from dataset_card import FIELDS, FOLDER, ROWS, SPLITS, judgments, rows

def bare(value):
    "Without the fields that a table fills with nothing."
    if isinstance(value, dict): return {k: bare(v) for k, v in value.items() if v is not None}
    return [bare(v) for v in value] if isinstance(value, list) else value

def wanted() -> dict[tuple[str, str], list[dict]]:
    "(configuration, split) -> rows, read by us."
    return {**{(n, n): rows(f"{n}.jsonl") for n in ROWS}, **{("qrels", s): judgments(s) for s in SPLITS}}

def by_datasets(bad):
    import datasets
    datasets.disable_progress_bars()
    right, lines = 0, 0
    with tempfile.TemporaryDirectory() as cache:
        names = datasets.get_dataset_config_names(str(FOLDER))
        if set(names) != {n for n, _ in wanted()}: bad.append(f"configurations: {names}")
        for (name, split), want in wanted().items():
            try: got = datasets.load_dataset(str(FOLDER), name, split=split, cache_dir=cache).to_list()
            except Exception as e: bad.append(f"datasets, {name}/{split}: {type(e).__name__}: {str(e)[:160]}"); continue
            same = [bare(a) == bare(b) for a, b in zip(got, want)]
            if len(got) != len(want) or not all(same): bad.append(f"datasets, {name}/{split}: {len(got)} rows for {len(want)}, first other {got[same.index(False)] if False in same else None}"[:300]); continue
            right, lines = right + 1, lines + len(got)
    print(f"datasets: {right} of {len(wanted())} configurations and splits load, {lines:,} rows as the files say")

def taken(row, path):
    "A field of a row by its name in the metadata."
    column, _, inside = path.replace("[]", "").partition("/")
    value = row.get(column)
    if not inside or value is None: return value
    return [v.get(inside) for v in value] if isinstance(value, list) else value.get(inside)

def by_croissant(bad):
    import mlcroissant
    made = mlcroissant.Dataset(str(FOLDER/"croissant.json"))
    issues, right, lines = made.metadata.issues, 0, 0
    bad += [f"mlcroissant: {e}" for e in (*issues.errors, *issues.warnings)]
    for (name, split), want in wanted().items():
        said = name if name != "qrels" else f"qrels-{split}"
        got = list(made.records(said))
        def text(v): return v.decode() if isinstance(v, bytes) else [text(x) for x in v] if isinstance(v, list) else v
        def some(v): return None if v in (None, [], "") else v
        wrong = [f for f in FIELDS[name] for g, w in zip(got, want) if some(text(g[f"{said}/{f.replace('[]', '')}"])) != some(taken(w, f))]
        if len(got) != len(want) or wrong: bad.append(f"mlcroissant, {said}: {len(got)} rows for {len(want)}, other fields {sorted(set(wrong))}"); continue
        right, lines = right + 1, lines + len(got)
    print(f"mlcroissant: valid; {right} of {len(wanted())} record sets, {lines:,} records as the files say")

def main():
    bad = []
    if dataset_card.main(True): bad.append("the card or its metadata is not today's")
    for module, measure in (("datasets", by_datasets), ("mlcroissant", by_croissant)):
        if find_spec(module) is None: print(f"not measured: {module} is not installed")
        else: measure(bad)
    for line in bad: print(f"wrong: {line}")
    print(f"faults {len(bad)}")
    kept.note(versions={m: version(m) for m in ("datasets", "mlcroissant") if find_spec(m)}, n=sum(map(len, wanted().values())), split="all")
    return int(bool(bad))

if __name__ == "__main__": kept.run(main)

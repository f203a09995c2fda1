"""What a benchmark prints is kept in benchmarks/results/NAME.json: `kept.run(main)` as its last line, `kept.note(n=..., split=...)` where it knows them.

Each printed line becomes 'heading > line with # for its numbers': [numbers], under 'printed'; tables for pages are given by `kept.note(table={...})`.
NAME: the script, the sets it was given and the flags that change what it measures ('expansion-regs', 'expansion-faults'). A run with other flags
(`--limit`, `--errors` ...) keeps nothing. `--slice`: nothing is overwritten; the figures are compared with results/slice/NAME.json (times are not),
and a difference beyond what another processor may change fails. RAG_QUALITY_KEEP_SLICE=1 writes that file instead.
RAG_QUALITY_COMPARE=1 (set by `run_all.py --slice`): a script without a slice is compared with its whole result in the same way.
"""
import json, os, re, resource, sys
from pathlib import Path

from rag_quality.report.results import load_result, save_result

HERE = Path(__file__).resolve().parent
RESULTS, SETS = HERE/"results", ("regs", "autorag", "korsts", "klue-sts", "sae4k", "stylekqc", "smilestyle", "realrag", "law", "klue-nli", "docs")
FLAGS = ("--faults", "--routes", "--check", "--split", "--full", "--answers", "--pgvector", "--terms", "--replies", "--slice")     # a result of its own; --slice none
NUMBER = re.compile(r"(?<![\w.@-])[-+]?(?:\d{1,3}(?:,\d{3})+|\d+)?(?:(?<=\d)|(?=\.\d))(?:\.\d+)?(?:e[-+]?\d+)?(?![A-Za-z0-9_@]|\.\d)")
TIMES = re.compile(r"\bms\b|초|\bs\b|\bsec|분\b|GB|GiB|MiB|MB|배\b|a second|/s\b|속도|speed|seconds|faster|CPU|메모리")
_noted = {}

def note(**what):
    "n, split, seed, modules; anything else is a table or a figure that is kept under its name."
    _noted.update(what)

class _Tee:
    "Standard output that also remembers."
    def __init__(self, under): self.under, self.text = under, []
    def write(self, text): self.text.append(text); return self.under.write(text)
    def __getattr__(self, name): return getattr(self.under, name)

def numbers(text):
    "(a line with # for its numbers, the numbers)."
    found = [m[0] for m in NUMBER.finditer(text)]
    def value(t): return float(t) if re.search(r"[.e]", t) else int(t)
    return re.sub(r"\s+", " ", NUMBER.sub("#", text)).strip(), [value(t.replace(",", "").rstrip(".")) for t in found]

def texts_of(words) -> str:
    "All that the external sets of a command line say: none of it may be kept."
    paths = [Path(w).resolve() for w in words if outside(w)]
    files = [f for p in paths for f in (sorted(p.rglob("*")) if p.is_dir() else [p]) if f.suffix in (".jsonl", ".tsv") and f.is_file()]
    return "\n".join(f.read_text(encoding="utf8", errors="replace") for f in files)

def printed(text, secret="") -> dict:
    "What was printed, as figures: lines that hold a number, under the heading that stands before an indented one. No line that quotes `secret`."
    out, heading = {}, ""
    for line in text.splitlines():
        if secret and any(line[i:i + 14] in secret for i in range(max(len(line) - 13, 0)) if re.search(r"[가-힣].*[가-힣].*[가-힣].*[가-힣].*[가-힣]", line[i:i + 14])): continue
        said, values = numbers(line)
        if not line.startswith((" ", "\t")): heading = said[:60]
        if not values or " -> " in line: continue      # an example, not a figure
        key = said if not line.startswith((" ", "\t")) or not heading else f"{heading} > {said}"
        key, k = key[:150], 1
        while (again := key if k == 1 else f"{key} ({k})") in out: k += 1
        out[again] = values[0] if len(values) == 1 else values
    return out

def outside(word):
    "The path of an argument below the folder of external sets as 'DATA/…', None where it is no such path."
    path = Path(word)
    if word.startswith("-") or not path.exists() or path.resolve().is_relative_to(HERE.parent): return None
    parts = path.resolve().parts
    at = next((i for i, p in enumerate(parts) if p in SETS), len(parts))
    return "/".join(["DATA", *parts[at:]])

def called(argv):
    "(name, command, may it be kept) of a command line."
    script, words, name, more = Path(argv[0]).name, [], [], [w for w in argv[1:] if w != "--slice"]
    for i, w in enumerate(more):
        if out := outside(w): name.append((out.split("/") + ["data"])[1]); words.append(out); continue
        inside = Path(w).resolve() if not w.startswith("-") and Path(w).exists() else None
        if inside and inside.is_relative_to(HERE.parent):
            w = str(inside.relative_to(HERE.parent))
            if inside.is_dir() and w != "data/hanbit": name.append(inside.name)
        elif w.startswith("--") and w != "--split": name.append(w.strip("-"))
        elif i and more[i - 1] == "--split": name.append(w)
        words.append(w)
    right = all(w in FLAGS for w in argv[1:] if w.startswith("-"))
    return "-".join([Path(script).stem, *dict.fromkeys(name)]), " ".join(["python", f"benchmarks/{script}", *words]), right

def close(a, b):
    "Equal within what another processor may change (as tools/nb_run.py compares)."
    if isinstance(a, (int, float)) and isinstance(b, (int, float)) and not isinstance(a, bool): return abs(a - b) <= (max(.0051, .02*abs(a)) if isinstance(a, float) or isinstance(b, float) else 0)
    if isinstance(a, list) and isinstance(b, list): return len(a) == len(b) and all(map(close, a, b))
    return a == b

def differences(old, new, at=""):
    "Lines that say where two tables of figures differ; times and `versions` (of other tools) are not compared."
    for key in {**old, **new}:
        where = f"{at}/{key}".strip("/")
        if key == "versions" or TIMES.search(key.replace("#", " ")) or key.endswith(("_ms", "_s", "seconds")): continue
        if key not in old or key not in new: yield f"{where}: {'no longer' if key in old else 'not kept before'}"
        elif isinstance(old[key], dict) and isinstance(new[key], dict): yield from differences(old[key], new[key], where)
        elif not close(old[key], new[key]): yield f"{where}: kept {old[key]}, now {new[key]}"

def seconds(): return sum(r.ru_utime + r.ru_stime for r in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))

def counted(text) -> int|None:
    "The largest n that was printed; None where there is none."
    return max((int(m[1].replace(",", "")) for m in re.finditer(r"\bn\s*=?\s*(\d[\d,]*)", text)), default=None)

def run(main, **about):
    "Run a benchmark's main, keep what it printed, exit with its code. `about`: split, seed, modules, where they are the same for every run."
    _noted.clear()
    _noted.update(about)
    argv, begun, tee = list(sys.argv), seconds(), _Tee(sys.stdout)
    name, command, right = called(argv)
    sys.stdout = tee
    try: code = main()
    finally: sys.stdout = tee.under
    told = {k: _noted.pop(k) for k in ("n", "split", "seed", "modules") if k in _noted}
    if "--split" in argv: told["split"] = argv[argv.index("--split") + 1]
    told.setdefault("n", counted("".join(tee.text)))
    figures = {**_noted, "printed": printed("".join(tee.text), texts_of(argv[1:])), **({"exit": int(code)} if code else {})}
    if "--slice" in argv: sys.exit(_compared(name, f"{command} --slice", figures, told, RESULTS/"slice") or code)
    if os.environ.get("RAG_QUALITY_COMPARE"): sys.exit(_compared(name, command, figures, told, RESULTS) or code)      # too short to have a slice
    if code == 2 or isinstance(code, str): sys.exit(code)
    if not right: print(f"not kept: {' '.join(w for w in argv[1:] if w.startswith('-') and w not in FLAGS)}", file=sys.stderr); sys.exit(code)
    save_result(name, {**figures, "cpu_seconds": round(seconds() - begun, 1)}, command=command, folder=RESULTS, **told)
    sys.exit(code)

def _compared(name, command, figures, told, folder):
    "Compare figures with the kept ones; 0 where they are the same. RAG_QUALITY_KEEP_SLICE: keep them instead."
    if os.environ.get("RAG_QUALITY_KEEP_SLICE"): save_result(name, figures, command=command, folder=folder, **told); return 0
    if not (folder/f"{name}.json").is_file(): print(f"no figures of {name} are kept: python benchmarks/run_all.py --slice --keep"); return 1
    kept, now = json.loads((folder/f"{name}.json").read_text(encoding="utf8"))["figures"], json.loads(json.dumps(figures, default=float))
    bad = list(differences(kept, now))
    for line in bad[:20]: print(f"DIFFERS {name}: {line}")
    if bad: print(f"{len(bad)} figures of {name} differ from {folder.relative_to(HERE)}/{name}.json. If that is meant: python benchmarks/run_all.py --slice --keep")
    return bool(bad)

def stale(name) -> bool:
    "Is a result missing, or older than what it measures?"
    return not (RESULTS/f"{name}.json").is_file() or load_result(name, RESULTS).stale

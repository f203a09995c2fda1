"""Execute the notebooks in place, so that their stored outputs are those of today's code.

usage: python tools/nb_run.py [--check] [--imported] [--timeout SECONDS] [--jobs N] [--times] [--cells] [NOTEBOOK ...]

Without names: every notebook of nbs/ but those under nbs/studies (long runs, executed by `make studies`). The longest
begin first, by the CPU seconds kept in tools/nb_times.json (`--times` rewrites them from this run; `--cells` tells which
cells cost), so that all jobs end together. Where RAG_QUALITY_CACHE is not set, the notebooks of one run share a cache in
a temporary folder: what one has computed the next finds, and nothing is found that an earlier run left.
Honours `#| eval: false` and a front matter `skip_exec: true`. `--check` writes nothing and fails where a re-run prints
another text than the stored one (pictures are not compared; a decimal may differ by 0.005, 2 % or one in its second or later digit, a p-value by 0.05: the word vectors of
Kiwi differ in the fourth digit from one maker of processors to another). `--imported` runs each exported cell as an import of what it defines, so
that the cells that follow exercise the module itself (this is what coverage is measured on); it implies `--check`.
"""
import argparse, ast, json, os, re, statistics, sys, tempfile, time
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from queue import Empty, Queue

import nbformat
import psutil
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

from slots import slot

ROOT = Path(__file__).resolve().parent.parent
TIMES = ROOT/"tools/nb_times.json"      # CPU seconds of each notebook, by its path under nbs/
COSTLY = 0.5                            # seconds from which `--cells` names a cell
ONE = {k: "1" for k in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}   # as many notebooks as cores
BROKEN = CellExecutionError, CellTimeoutError, DeadKernelError
SKIP_CELL = re.compile(r"^#\|\s*eval:\s*false\s*$", re.M)
ADDRESS = re.compile(r"0x[0-9a-f]{6,}")
DECIMAL = re.compile(r"(?<![\w.])[-+]?\d+\.\d+(?:e[-+]?\d+)?")

def notebooks(names=()):
    "The notebooks of these names, or all but the studies."
    if names: return [Path(n) for n in names]
    return [p for p in sorted((ROOT/"nbs").rglob("*.ipynb"))
            if "studies" not in p.parts and not any(q.startswith((".", "_")) for q in p.relative_to(ROOT).parts)]

def key(path):
    "What a notebook is called in nb_times.json."
    path = path.resolve()
    return path.relative_to(ROOT/"nbs").as_posix() if path.is_relative_to(ROOT/"nbs") else path.name

def by_length(paths):
    "(seconds, path), the longest first; one that was moved is known by its name, a new one is taken for a middling one."
    known = json.loads(TIMES.read_text(encoding="utf8")) if TIMES.is_file() else {}
    named = {Path(k).name: v for k, v in known.items()}
    middle = statistics.median(known.values()) if known else 1
    return sorted(((known.get(key(p), named.get(p.name, middle)), p) for p in paths), key=lambda row: (-row[0], str(row[1])))

def keep_times(spent):
    "Write what was measured beside what is known of the other notebooks that are still there."
    known = json.loads(TIMES.read_text(encoding="utf8")) if TIMES.is_file() else {}
    there = {key(p) for p in notebooks()}
    rows = {k: v for k, v in {**known, **spent}.items() if k in there}
    TIMES.write_text(json.dumps(dict(sorted(rows.items())), indent=0, ensure_ascii=False) + "\n", encoding="utf8")

def skips_whole(nb):
    first = next((c.source for c in nb.cells if c.cell_type in ("raw", "markdown")), "")
    return bool(re.search(r"^skip_exec:\s*true", first, re.M))

def as_import(source, module):
    "An exported cell as `from rag_quality.module import` everything that it binds."
    names = []
    for node in ast.parse(source).body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)): names.append(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)): names += [a.asname or a.name.split(".")[0] for a in node.names]
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names += [n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)]
    return f"from rag_quality.{module} import {', '.join(dict.fromkeys(names))}" if names else f"import rag_quality.{module}"

def imported_cells(nb):
    "Index -> what runs instead of an exported cell."
    module = next((m[1] for c in nb.cells if (m := re.search(r"^#\|\s*default_exp\s+(\S+)", c.source, re.M))), None)
    return {i: as_import(c.source, module) for i, c in enumerate(nb.cells)
            if module and c.cell_type == "code" and re.search(r"^#\|\s*exporti?s?\s*$", c.source, re.M)}

def texts(outputs):
    "What a reader sees of a cell as text: what it printed, the plain form of results. Not stderr: whether a warning is told depends on what ran before."
    out, stream = [], ""
    for o in outputs:
        if o.output_type == "stream": stream += o.text if o.name == "stdout" else ""
        elif "data" in o: out.append(o.data.get("text/markdown") or o.data.get("text/plain", ""))
    return [ADDRESS.sub("0x", t) for t in [stream, *out] if t]

def same_text(old, new):
    "Equal texts, decimals within what another processor may change."
    xs, ys = list(DECIMAL.finditer(old)), list(DECIMAL.finditer(new))
    words = [re.sub(r"\s+", " ", DECIMAL.sub(" 0.0", t)) for t in (old, new)]
    if words[0] != words[1]: return False
    for x, y in zip(xs, ys):
        a, b = float(x[0]), float(y[0])
        allowed = 0.05 if re.search(r"\bp(?: =)? *$", old[:x.start()][-6:]) else max(0.0051, 0.02*abs(a), 1.01*10.0**-max(2, len(x[0].partition(".")[2].partition("e")[0])))
        if abs(a - b) > allowed: return False
    return True

def same(old, new): return len(old) == len(new) and all(map(same_text, old, new))

SAVE = "import coverage; _c = coverage.Coverage.current(); _c and (_c.stop(), _c.save())"     # a kernel that is slow to end would be killed before it saves
# what outlives a reset is what modules keep: frozen, no later collection walks over it (a second for each notebook)
FRESH = """%reset -f
import builtins, gc, logging, os, sys
gc.freeze()
builtins.environ_at_first = getattr(builtins, "environ_at_first", dict(os.environ))
os.environ.clear(); os.environ.update(builtins.environ_at_first); os.chdir({folder!r})
if "matplotlib.pyplot" in sys.modules: sys.modules["matplotlib.pyplot"].close("all")
logging.disable(logging.NOTSET); ours = logging.getLogger("rag_quality"); ours.handlers.clear(); ours.setLevel(logging.NOTSET); ours.propagate, ours.disabled = True, False
del builtins, gc, logging, os, ours, sys"""

class Kernel:
    "A kernel that runs notebooks one after the other; each begins with an empty namespace, what is imported stays loaded."
    def __init__(self, timeout):
        self.client = NotebookClient(nbformat.v4.new_notebook(), timeout=timeout, kernel_name="python3", coalesce_streams=True,
                                     resources={"metadata": {"path": str(ROOT/"nbs")}}, extra_arguments=["--log-level=ERROR"])
        self.open = self.client.setup_kernel(env=dict(os.environ, PYTHONHASHSEED="0", TQDM_DISABLE="1", RAG_QUALITY_STRICT="1"))     # no wall: what an optional step raises fails the notebook
        self.open.__enter__()
        self.process = psutil.Process(self.client.km.provisioner.process.pid)

    def cpu(self):
        "CPU seconds that the kernel and the processes it waited for have spent."
        t = self.process.cpu_times()
        return t.user + t.system + t.children_user + t.children_system

    def silently(self, source):
        "Run what is no cell of the notebook."
        nb, self.client.nb = self.client.nb, nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source)])
        self.client.execute_cell(self.client.nb.cells[0], 0); self.client.nb = nb

    def begin(self, nb, folder):
        self.client.reset_execution_trackers(); self.client.nb = nb
        self.silently(FRESH.format(folder=str(folder.resolve())))

    def close(self):
        if any(k.startswith("COVERAGE_PROCESS") for k in os.environ): self.silently(SAVE)
        self.open.__exit__(None, None, None)

def run(path, kernel, check, imported, cells=False):
    "Execute a notebook; the cells whose text changed: (index, stored, now)."
    nb = nbformat.read(path, as_version=4)
    if skips_whole(nb): return []
    stored = [texts(c.get("outputs", [])) for c in nb.cells]
    changed, instead = [], imported_cells(nb) if imported else {}
    kernel.begin(nb, path.parent)
    for i, cell in enumerate(nb.cells):
        if cell.cell_type != "code" or SKIP_CELL.search(cell.source): continue
        source, cell.source = cell.source, instead.get(i, cell.source)
        before = kernel.cpu() if cells else 0
        kernel.client.execute_cell(cell, i)
        cell.source = source
        if cells and (spent := kernel.cpu() - before) >= COSTLY:
            print(f"     {spent:5.1f} s {path.name} cell {i}: {source[:60]!r}", flush=True)
        cell.execution_count = None
        for o in cell.outputs:
            if "execution_count" in o: o.execution_count = None
            o.get("metadata", {}).clear()
        if check and not same(stored[i], texts(cell.outputs)): changed.append((i, stored[i], texts(cell.outputs)))
    if not check:
        nb.metadata = nbformat.NotebookNode(kernelspec={"display_name": "python3", "language": "python", "name": "python3"})
        for c in nb.cells: c.metadata = nbformat.NotebookNode()
        text = nbformat.writes(nb) + "\n"
        if path.read_text(encoding="utf8") != text: path.write_text(text, encoding="utf8")
    return changed

def options():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("--check", action="store_true", help="write nothing, compare")
    ap.add_argument("--imported", action="store_true", help="exported cells import the module; implies --check")
    ap.add_argument("--timeout", type=int, default=600, help="seconds a cell")
    ap.add_argument("--jobs", type=int, default=1, help="how many notebooks at once")
    ap.add_argument("--times", action="store_true", help="rewrite tools/nb_times.json")
    ap.add_argument("--cells", action="store_true", help=f"name the cells of {COSTLY} s and more")
    ap.add_argument("names", nargs="*")
    args = ap.parse_args()
    args.check |= args.imported
    return args

def main():
    args = options()
    os.environ |= {k: v for k, v in ONE.items() if k not in os.environ and args.jobs > 1}
    if "RAG_QUALITY_CACHE" in os.environ: return all_of(args)
    with tempfile.TemporaryDirectory() as d:
        os.environ["RAG_QUALITY_CACHE"] = d
        return all_of(args)

def all_of(args):
    "Run the notebooks, tell of each; 1 where one failed or prints another text."
    kernels = Queue()
    def one(path):
        with slot(): return timed(path)
    def timed(path):
        start = time.perf_counter()
        try: kernel = kernels.get_nowait()
        except Empty: kernel = Kernel(args.timeout)
        first, well = kernel.cpu(), False
        try:
            changed = run(path, kernel, args.check, args.imported, args.cells)
            well = args.imported          # where the module itself is imported, one kernel may serve many notebooks
        except BROKEN as e: changed = e
        finally:
            spent = kernel.cpu() - first if kernel.process.is_running() else 0.
            kernels.put(kernel) if well else kernel.close()
        return path, changed, spent, time.perf_counter() - start
    bad, spent = 0, {}
    with ThreadPoolExecutor(args.jobs) as pool:
        # submitted one by one: whichever job is free takes the longest that is left
        for done in as_completed([pool.submit(one, path) for _, path in by_length(notebooks(args.names))]):
            path, changed, cpu, wall = done.result()
            spent[key(path)] = round(cpu, 1)
            if isinstance(changed, BROKEN):
                print(f"FAIL {path}\n{changed}", file=sys.stderr)
                del spent[key(path)]
            else:
                for i, old, new in changed:
                    print(f"DIFF {path} cell {i}\n  stored: {old}\n  now:    {new}", file=sys.stderr)
            bad += bool(changed)
            word = "ok  " if not changed else "DIFF" if isinstance(changed, list) else "FAIL"
            print(f"{word} {path} cpu {cpu:.1f} s, wall {wall:.1f} s", flush=True)
    while not kernels.empty(): kernels.get().close()
    if args.times: keep_times(spent)
    print(f"{len(spent)} notebooks, {bad} bad, {sum(spent.values()):.0f} s of CPU")
    return 1 if bad else 0

if __name__ == "__main__": sys.exit(main())

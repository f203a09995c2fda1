"""Every measured figure of the text is in a result or in an output: python tools/check_figures.py [--release]

A decimal or a percentage in prose whose sentence speaks of a measure (nDCG, F1, AUROC, 정확도, ms ...) must be found, rounded as it is printed,
- in a code output of the same notebook (those are run again by CI), or
- in benchmarks/results/*.json of a script that the same paragraph, list item or table names (`benchmarks/x.py`, or the result's name in `results/x`).
Read: markdown cells of nbs/ (not nbs/studies), CHANGELOG.md from 0.7 on, benchmarks/README.md, data/*/README.md. README.md is made from nbs/index.ipynb.
No measurement: what stands in `code`, in $math$, in a quotation, in a link, a target, a threshold, a level of confidence, a figure beside the link to its publication.

Further: each result comes from a script that exists; each result that a notebook loads is there; stale results are listed (`--release`: they fail).
"""
import json, re, sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT/"benchmarks"/"results"
sys.path.insert(0, str(ROOT))

MEASURE = re.compile(r"nDCG|R@\d|RR@|MRR|Success@|F1(?![0-9A-Za-z])|AUROC|AUC|ECE|정확도|정밀도|재현율|적중|Spearman|상관|kappa|κ|alpha|AC1|오경보|헛거절|놓치|찾은 비율|찾은 몫|비율은|내려[가갔]|올[라랐]|오르고|오릅니다|줄었|늘었|줄어|초\b|초 |밀리초|(?<=\d) ?ms(?![a-z])|걸립니다|GB\b|빨라|배쯤|맞히는|찾고|찾지만|놓칩|재고|쟀|잰 |맞은 것|맞힌|\d \[[-+.\d]+, ")
FIGURE = re.compile(r"(?<![\w.@/:-])[-+]?(?:\d*\.\d+|\d+(?= ?%))( ?%)?(?![\d.]*[\w-]*\.(?:py|json|md))(?!\.\d)")
CONSTANT = re.compile(r"(목표|문턱|무게|α|\bp\b ?[<=]?|\bk1|\bb\b|온도|temperature|검정력|바라는|prior)[^.\n|]{0,12}$")
AFTER = re.compile(r"^ ?(구간|이상|이하|미만|까지|의 검정력|부터|밑|을 넘|를 넘|쯤 후|아래면)")
PUBLISHED = re.compile(r"arxiv\.org|doi\.org|논문|위키백과|\(\d{4}\)|\b(19|20)\d\d\)|공개된 사양|사양")
MASK = re.compile(r"```.*?```|\"[^\"\n]*\"|`[^`\n]*`|\$\$.*?\$\$|\$[^$\n]*\$|\]\([^)]*\)|\b\d{4}\. ?\d{1,2}\.|\b\d+\.\d+\.\d+\b|CC BY[- \w.]*\d\.\d|Python \d\.\d+|Apache-2\.0", re.S)

def blocks(text):
    "Paragraphs with all of a list item or a table in one; (line number, text)."
    at = 1
    for part in re.split(r"(\n\s*\n)", text):
        for item in re.split(r"(?m)(?=^\s*(?:[-*]|\d+\.) )", part):
            if item.strip(): yield at, item
            at += item.count("\n")

def sentences(block): return re.split(r"(?<=[다요죠]\.)\s+|(?<=[:;])\s+(?=\D)|\n(?=\|)", block) if not block.lstrip().startswith("|") else [block]

def figures(text):
    "(line, the paragraph, the figure as printed) of what reads as a measurement."
    for line, block in blocks(text):
        plain = MASK.sub(lambda m: "§"*len(m[0]) if "\n" not in m[0] else re.sub(r"[^\n]", "§", m[0]), block)
        if PUBLISHED.search(block): continue
        for sentence in sentences(plain):
            if not MEASURE.search(sentence): continue
            for m in FIGURE.finditer(sentence):
                before, after = sentence[:m.start()], sentence[m.end():]
                if CONSTANT.search(before[-24:]) or AFTER.match(after): continue
                yield line, block, m[0]

def numbers(value) -> list[float]:
    "All numbers of a table of figures."
    if isinstance(value, bool) or value is None: return []
    if isinstance(value, (int, float)): return [float(value)]
    if isinstance(value, dict): return [n for v in value.values() for n in numbers(v)] + numbers(" ".join(value))
    if isinstance(value, list): return [n for v in value for n in numbers(v)]
    return [float(n.replace(",", "")) for n in re.findall(r"(?<![\w.])[-+]?(?:\d[\d,]*\.?\d*|\.\d+)", value) if re.search(r"\d", n) and n.count(".") < 2]

def is_among(figure:str, found) -> bool:
    "Is a printed figure one of these numbers, rounded as it is printed? A percentage may be kept as a share."
    text = figure.replace("%", "").replace(" ", "")
    digits, percent = len(text.partition(".")[2]), "%" in figure
    want, half = float(text), .5*10**-digits*1.0001
    return any(abs(abs(n) - abs(want)) <= half or percent and abs(100*abs(n) - abs(want)) <= half for n in found)

def results() -> dict:
    "name -> the kept file."
    return {p.stem: json.loads(p.read_text(encoding="utf8")) for p in sorted(RESULTS.glob("*.json"))}

def named(block, kept) -> list[float]:
    "The numbers of the results whose script, or whose file, a paragraph names."
    scripts, files = set(re.findall(r"(?:benchmarks/)?(\w+)\.py", block)), set(re.findall(r"results/([\w.-]+?)(?:\.json)?[`)\s]", block))
    return [n for name, r in kept.items() if name in files or scripts & set(re.findall(r"benchmarks/(\w+)\.py", r["command"])) for n in numbers(r["figures"]) + numbers(r["n"])]

def outputs(cells) -> list[float]:
    found = []
    for c in cells:
        for o in c.get("outputs", []):
            data = o.get("text") or o.get("data", {}).get("text/markdown") or o.get("data", {}).get("text/plain") or ""
            found += numbers("".join(data))
    return found

def texts():
    "(where, text, numbers of its own outputs)."
    for path in sorted((ROOT/"nbs").rglob("*.ipynb")):
        if "studies" in path.parts or any(p.startswith((".", "_")) for p in path.relative_to(ROOT).parts): continue
        cells = json.loads(path.read_text(encoding="utf8"))["cells"]
        own = outputs(cells)
        for i, c in enumerate(cells):
            if c["cell_type"] == "markdown": yield f"{path.relative_to(ROOT)} cell {i}", "".join(c["source"]), own
    log = (ROOT/"CHANGELOG.md").read_text(encoding="utf8")
    yield "CHANGELOG.md", re.split(r"(?m)^## 0\.[0-6]\.", log)[0], []
    for path in (ROOT/"benchmarks/README.md", *sorted((ROOT/"data").glob("*/README.md"))): yield str(path.relative_to(ROOT)), path.read_text(encoding="utf8"), []

def missing(kept):
    "Lines for figures that nothing kept or printed holds, with where they stand."
    for where, text, own in texts():
        for line, block, figure in figures(text):
            if not is_among(figure, own + named(block, kept)): yield f"{where}, line {line}: {figure.strip()} | {' '.join(block.split())[:110]}"

def loaded():
    "Names of results that notebooks load."
    for path in sorted((ROOT/"nbs").rglob("*.ipynb")):
        if path.name == "01_results.ipynb" or ".ipynb_checkpoints" in path.parts: continue
        for c in json.loads(path.read_text(encoding="utf8"))["cells"]:
            if c["cell_type"] == "code": yield from ((path, n) for n in re.findall(r"load_result\(\"([\w.-]+)\"", "".join(c["source"])))

def main(argv):
    from rag_quality.report.results import load_result
    kept = results()
    bad = [f"not in a result or an output: {f}" for f in missing(kept)]
    bad += [f"results/{name}.json: no script for '{r['command']}'" for name, r in kept.items() if not any((ROOT/w).is_file() for w in r["command"].split() if w.endswith(".py"))]
    bad += [f"{path.relative_to(ROOT)} loads '{name}', which is not kept: make results" for path, name in loaded() if name not in kept]
    stale = [(name, changed) for name in kept if (changed := load_result(name, RESULTS, warn=False).changed)]
    for name, changed in stale: print(f"stale: results/{name}.json ({', '.join(changed)} changed since {kept[name]['date']}): {kept[name]['command']}")
    print("\n".join(bad) if bad else f"every figure of the text is kept or printed ({len(kept)} results, {len(stale)} stale)")
    if stale and "--release" in argv: print("stale results: make results before a release")
    return 1 if bad or stale and "--release" in argv else 0

if __name__ == "__main__": sys.exit(main(sys.argv[1:]))

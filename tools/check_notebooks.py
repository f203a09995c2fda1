"""The rules of the house, checked: where a notebook stands, how large it is, how its code looks, which way its imports point.

usage: python tools/check_notebooks.py          prints a line a finding; 1 where there is one
A room is about 400 exported lines and 90 cells at most. Those of `LARGER` are over it today; they may shrink, not grow.
"""
import ast
import io
import json
import re
import sys
import tokenize

from folders import FOLDERS, NBS, PHASES, ROOT, door, module_of, read, source

MAX_CELLS, MAX_EXPORTED, WIDTH = 90, 400, 120
LARGER = json.loads((ROOT/"tools/larger.json").read_text(encoding="utf8"))     # module -> [cells, exported lines]
ORDER = list(FOLDERS)


def flags(cell):
    return set(re.findall(r"^#\|\s*(\w+)", source(cell), re.M))


def exported(cell):
    return cell["cell_type"] == "code" and bool(flags(cell) & {"export", "exports"})


def shown(cell):
    return cell["cell_type"] == "code" and not flags(cell) & {"export", "exports", "hide"}


def code_of(cell):
    "The code of a cell without magics."
    return re.sub(r"^[%!].*$", "", source(cell), flags=re.M)


def several(code):
    "The lines that hold more than one statement."
    starts, seen = [n.lineno for n in ast.walk(ast.parse(code)) if isinstance(n, ast.stmt)], set()
    twice = {n for n in starts if n in seen or seen.add(n)}
    return twice | {t.start[0] for t in tokenize.generate_tokens(io.StringIO(code).readline) if t.string == ";" and t.type == tokenize.OP}


def only_imports(cell):
    "Is it a cell of imports and nothing else (the site executes those)?"
    if cell["cell_type"] != "code":
        return False
    try:
        body = ast.parse(code_of(cell)).body
    except SyntaxError:
        return False
    return bool(body) and all(isinstance(n, (ast.Import, ast.ImportFrom)) for n in body)


def size(cells):
    "(cells but those of imports alone, exported lines)"
    return sum(not only_imports(c) for c in cells), sum(len([x for x in source(c).splitlines() if x.strip()]) for c in cells if exported(c))


def folder_of(module):
    return module.split(".")[0]


def upward(module, target):
    "Why a module may not import another; '' where it may."
    here, there = folder_of(module), folder_of(target)
    if here == there or there not in FOLDERS or here not in FOLDERS:
        return ""
    if here in PHASES and there in PHASES:
        return f"phase {here} imports phase {there}"
    return f"{module} imports {target}, whose folder is not below it" if ORDER.index(there) > ORDER.index(here) else ""


def place(path, module):
    "Why a notebook stands in the wrong place; '' where it does not."
    if module in ("__init__", "__main__"):
        return ""
    folder, _, room = module.partition(".")
    if folder not in FOLDERS:
        return f"{folder!r} is no folder of the plan (tools/folders.py)"
    right = path == door(folder) if room == "__init__" else path.parent == NBS/folder and path.stem.partition("_")[2] == room
    return "" if right else f"exports {module}: belongs to nbs/{folder}/NN_{room}.ipynb, or to the door of its folder"


def findings(path, cells, module):
    "What is wrong with a notebook."
    if why := place(path, module):
        yield why
    n, lines = size(cells)
    most_cells, most_lines = LARGER.get(module, (MAX_CELLS, MAX_EXPORTED))
    if n > max(most_cells, MAX_CELLS):
        yield f"{n} cells (at most {max(most_cells, MAX_CELLS)})"
    if lines > max(most_lines, MAX_EXPORTED):
        yield f"{lines} exported lines (at most {max(most_lines, MAX_EXPORTED)})"
    if not any(c["cell_type"] == "markdown" and re.match(r"# .+\n(.*\n)*?> ", source(c)) for c in cells[:2]):
        yield "no '# title' with a '> blurb' at the top"
    long = packed = 0
    for i, c in enumerate(cells):
        if c["cell_type"] == "code" and any(o.get("output_type") == "error" for o in c.get("outputs", [])):
            yield f"cell {i}: a stored error"
        if not exported(c):
            continue
        code = code_of(c)
        tree = ast.parse(code)
        long += sum(len(line) > WIDTH for line in code.splitlines())
        packed += len(several(code))
        public = [o.name for o in tree.body if isinstance(o, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and o.name[0] != "_"]
        if public and not any(shown(d) for d in cells[i+1:i+4]):
            yield f"cell {i}: {', '.join(public)} not shown within 3 cells"
        for node in ast.walk(tree):
            if not isinstance(node, ast.ImportFrom) or not (node.module or "").startswith("rag_quality."):
                continue
            if any(a.name == "*" for a in node.names):
                yield f"cell {i}: star import from {node.module}"
            if why := upward(module, node.module.removeprefix("rag_quality.")):
                yield f"cell {i}: {why}"
    if packed:
        yield f"{packed} exported lines with several statements"
    if long > max(20, .05*lines):
        yield f"{long} exported lines over {WIDTH} columns"


def main():
    bad, n = [], 0
    for p in sorted(NBS.rglob("*.ipynb")):
        if any(q.startswith((".", "_")) for q in p.relative_to(ROOT).parts):
            continue
        cells = read(p)
        n += 1
        if module := module_of(cells):
            bad += [f"{p.relative_to(ROOT)}: {f}" for f in findings(p, cells, module)]
    if "--larger" in sys.argv:
        over = {}
        for p in sorted(NBS.rglob("*.ipynb")):
            cells = read(p)
            if (m := module_of(cells)) and (size(cells)[0] > MAX_CELLS or size(cells)[1] > MAX_EXPORTED):
                over[m] = list(size(cells))
        (ROOT/"tools/larger.json").write_text(json.dumps(over, indent=1) + "\n", encoding="utf8")
        return 0
    print("\n".join(bad) if bad else f"{n} notebooks follow the rules")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())

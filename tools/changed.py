"""Which notebooks are touched by what changed, as the import graph says.

usage: python tools/changed.py [BASE]        one notebook a line, with why

BASE: a commit; without it, where HEAD left origin/main, or, where there is no origin/main, HEAD (and its parent where
nothing is uncommitted). What changed is the difference between BASE and the working tree, new files included.

A notebook is touched where it changed itself, or where a module changed that it defines or imports, however far down,
or a file of data/ that such a module names. What only a reader sees of a notebook (its text, its visible cells) does
not change the module, so that only the notebook itself is touched. A change of the versions touches all.
"""
import ast
import json
import re
import subprocess
import sys
from functools import cache
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = "rag_quality"
ALL = ("pyproject.toml", "constraints.txt", "settings.ini")      # what every notebook runs on


def git(*args) -> str:
    "What git prints; raises where it fails."
    return subprocess.run(["git", *args], cwd=ROOT, check=True, capture_output=True, text=True).stdout


def default_base() -> str:
    "Where HEAD left origin/main; else HEAD, or its parent where everything is committed."
    found = subprocess.run(["git", "merge-base", "HEAD", "origin/main"], cwd=ROOT, capture_output=True, text=True)
    if found.returncode == 0:
        return found.stdout.strip()
    return "HEAD" if git("status", "--porcelain").strip() else "HEAD~1"


def changed_files(base) -> list[str]:
    "Paths that differ between a commit and the working tree."
    rows = git("-c", "core.quotePath=false", "diff", "--name-only", "--no-renames", base).splitlines()
    return sorted({*rows, *git("-c", "core.quotePath=false", "ls-files", "--others", "--exclude-standard").splitlines()})


def module_name(path) -> str:
    "rag_quality/persona/needs.py -> persona.needs; a package is named by its folder, the root ''."
    parts = PurePosixPath(path).with_suffix("").parts[1:]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def modules() -> dict[str, Path]:
    "Every module of the package by its dotted name below rag_quality."
    return {module_name(p.relative_to(ROOT).as_posix()): p for p in (ROOT/PACKAGE).rglob("*.py")
            if p.name != "_modidx.py" and "_bundle" not in p.parts}


def known(dotted) -> str | None:
    "The longest beginning of a dotted name that is a module."
    parts = dotted.split(".")
    return next((n for k in range(len(parts), 0, -1) if (n := ".".join(parts[:k])) in modules()), None)


def said_by(tree, inside="") -> tuple[set[str], set[str]]:
    "(modules of the package that a tree imports, at the top or within a function; its string constants), `inside` a package."
    found, strings = set(), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for a in node.names:
                if a.name == PACKAGE:
                    found.add("")
                elif a.name.startswith(PACKAGE + "."):
                    found.add(known(a.name.partition(".")[2]))
        elif isinstance(node, ast.ImportFrom):
            home = node.module or ""
            if node.level:
                above = inside.split(".") if inside else []
                home = ".".join([PACKAGE, *above[:len(above) - node.level + 1], *([home] if home else [])])
            if home != PACKAGE and not home.startswith(PACKAGE + "."):
                continue
            home = home.partition(".")[2]
            for a in node.names:
                found.add(known(f"{home}.{a.name}" if home else a.name) or "")
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            strings.add(node.value)
            if node.value.startswith(PACKAGE + "."):
                found.add(known(node.value.partition(".")[2]))               # import_module("rag_quality.x"), a lazy face
    return found - {None}, strings


def parsed(source) -> ast.AST:
    "A cell or a module as a tree, its magics left out."
    return ast.parse(re.sub(r"^\s*[%!].*$", "", source, flags=re.M))


@cache
def module_graph() -> dict[str, tuple[set[str], set[str]]]:
    "Module -> (what it imports, its strings)."
    out = {}
    for name, path in modules().items():
        tree = parsed(path.read_text(encoding="utf8"))
        inside = name if path.name == "__init__.py" else name.rpartition(".")[0]
        needs, strings = said_by(tree, inside)
        out[name] = needs - {name}, strings
    return out


@cache
def below(module) -> frozenset[str]:
    "A module and those that it imports, however far down; the root package with its lazy names stands for all."
    seen, left = set(), [module]
    while left:
        name = left.pop()
        if name not in seen:
            seen.add(name)
            left += module_graph()[name][0] if name else modules()
    return frozenset(seen)


@cache
def notebook(path) -> tuple[str | None, set[str], set[str]]:
    "(module it defines, modules it reaches, strings of its cells)"
    cells = json.loads(path.read_text(encoding="utf8"))["cells"]
    sources = ["".join(c["source"]) for c in cells if c["cell_type"] == "code"]
    own = next((m[1] for s in sources if (m := re.search(r"^#\|\s*default_exp:?\s+(\S+)", s, re.M))), None)
    starts, said = {own} & modules().keys(), set()
    for s in sources:
        needs, strings = said_by(parsed(s))
        starts |= needs
        said |= strings
        starts |= {m for n in re.findall(PACKAGE + r"\.([\w.]+)", s) if (m := known(n))}     # code run in another process
        if "rag-quality" in s and "cli" in modules():
            starts.add("cli")
    return own, set().union(*map(below, starts)), said


def names_file(said, path) -> bool:
    "Do these strings name a file of data/: its name, its stem, or (but for config/) its folder?"
    p = PurePosixPath(path)
    wanted = {p.name, p.stem, *(q for q in p.parts[1:-1] if q != "config")}
    return bool(wanted & said) or any(s.endswith("/" + p.name) for s in said if len(s) < 200)


def touched(base=None) -> dict[Path, str]:
    "Notebook -> the changed file on account of which it has to run again."
    from nb_run import notebooks
    changed = changed_files(base or default_base())
    every = notebooks()
    if not changed:
        return {}
    if whole := next((c for c in changed if c in ALL), None):
        return dict.fromkeys(every, whole)
    out = {p: c for c in changed if (p := ROOT/c) in every}
    new = {module_name(c): c for c in changed if c.startswith(PACKAGE + "/") and c.endswith(".py") and "_modidx" not in c}
    data = [c for c in changed if c.startswith("data/") and not c.endswith(".md")]
    for file in data:
        users = [n for n, (_, said) in module_graph().items() if names_file(said, file)]
        new |= {n: file for n in users if n not in new}
    for p in every:
        _, needs, said = notebook(p)
        why = next((c for n, c in new.items() if n in needs and (n or len(needs) == len(modules()))), None)
        why = why or next((c for c in data if names_file(said, c)), None)
        if why:
            out.setdefault(p, why)
    return out


if __name__ == "__main__":
    for path, why in sorted(touched(*sys.argv[1:2]).items()):
        print(f"{path.relative_to(ROOT)}  <- {why}")

"""The rules of the house, checked: size of notebooks, no star imports, each public name shown in use, arrows point down."""
import ast, json, re, sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MAX_CELLS, MAX_EXPORTED, MAX_CELL = 70, 250, 42
PHASES = {"colloquial", "morphology", "semantic_eval", "judge", "weights", "faithfulness", "query_expansion", "grading"}
TOP = {"__main__": 51, "answers": 20, "asked_article": 20, "extractive": 20, "llm_answerer": 20, "fallback": 20, "answering_loop": 20, "answering": 21, "persona": 22, "steps": 29, "experiment": 30, "ablation": 31, "components": 32, "automation_run": 33, "automation_rounds": 33, "automation_improve": 34, "automation": 34, "report": 40, "benchmark_data": 36, "benchmark_tasks": 37, "benchmark_answers": 38, "benchmark": 39, "answer_check": 41, "cli_measure": 44, "cli_tune": 45, "cli_explain": 45, "cli_judge": 45, "cli_ask": 45, "cli_test": 45, "cli_benchmark": 45, "cli": 50}

def src(cell): return "".join(cell["source"])
def flags(cell): return set(re.findall(r"^#\|\s*(\w+)", src(cell), re.M))
def exported(cell): return cell["cell_type"] == "code" and bool(flags(cell) & {"export", "exports"})
def shown(cell): return cell["cell_type"] == "code" and not flags(cell) & {"export", "exports", "hide"}

def module_of(cells): return next((m[1] for c in cells if (m := re.search(r"#\|\s*default_exp:?\s*(\S+)", src(c)))), None)

def level(module, numbers):
    "Height of a module: imports may only go to a lower one, or to a neighbour under the same number of the support modules."
    if module.split(".")[0] in TOP: return TOP[module.split(".")[0]] * 100
    return 1000 if module in PHASES else numbers.get(module, 0)

def findings(path, cells, module, numbers):
    if len(cells) > MAX_CELLS: yield f"{len(cells)} cells (at most {MAX_CELLS})"
    total = sum(len(src(c).splitlines()) for c in cells if exported(c))
    if total > MAX_EXPORTED: yield f"{total} exported lines (at most {MAX_EXPORTED})"
    if not any(c["cell_type"] == "markdown" and re.match(r"# .+\n(.*\n)*?> ", src(c)) for c in cells[:2]): yield "no '# title' with a '> blurb' at the top"
    for i, c in enumerate(cells):
        if c["cell_type"] == "code" and any(o.get("output_type") == "error" for o in c.get("outputs", [])): yield f"cell {i}: a stored error"
        if not exported(c): continue
        if (n := len(src(c).splitlines())) > MAX_CELL: yield f"cell {i}: {n} exported lines (at most {MAX_CELL})"
        tree = ast.parse(re.sub(r"^[%!].*$", "", src(c), flags=re.M))
        public = [o.name for o in tree.body if isinstance(o, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and o.name[0] != "_"]
        if public and not any(shown(d) for d in cells[i+1:i+4]): yield f"cell {i}: {', '.join(public)} not shown within 3 cells"
        for node in ast.walk(tree):
            if not isinstance(node, ast.ImportFrom) or not (node.module or "").startswith("rag_quality."): continue
            if any(a.name == "*" for a in node.names): yield f"cell {i}: star import from {node.module}"
            target = node.module.removeprefix("rag_quality.")
            if module in PHASES and target in PHASES: yield f"cell {i}: phase {module} imports phase {target}"
            elif level(target, numbers) > level(module, numbers): yield f"cell {i}: {module} imports {target}, which is not below it"

def main():
    loaded, bad = {}, []
    for p in sorted((ROOT/"nbs").rglob("*.ipynb")):
        if any(q.startswith((".", "_")) for q in p.relative_to(ROOT).parts): continue
        loaded[p] = json.loads(p.read_text(encoding="utf8"))["cells"]
    numbers = {m: int(p.stem[:2]) for p, c in loaded.items() if (m := module_of(c))}
    for p, cells in loaded.items():
        if module := module_of(cells): bad += [f"{p.relative_to(ROOT)}: {f}" for f in findings(p, cells, module, numbers)]
    print("\n".join(bad) if bad else f"{len(loaded)} notebooks follow the rules")
    return 1 if bad else 0

if __name__ == "__main__": sys.exit(main())

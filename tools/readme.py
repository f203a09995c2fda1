"""Make README.md from nbs/index.ipynb (nbconvert; no Quarto needed). `--check` only says whether they agree."""
import re, sys
from pathlib import Path

import nbformat
from nbconvert import MarkdownExporter

ROOT = Path(__file__).resolve().parent.parent

def told(cell):
    "A cell whose code the page keeps to itself (`#| echo: false`) as what it shows; any other as it is."
    if cell.cell_type != "code" or not re.search(r"^#\|\s*echo:\s*false", cell.source, re.M): return [cell]
    texts = [o["data"]["text/markdown"] for o in cell.outputs if "text/markdown" in o.get("data", {})]
    return [nbformat.v4.new_markdown_cell(t) for t in texts]

def readme() -> str:
    nb = nbformat.read(ROOT/"nbs/index.ipynb", as_version=4)
    nb.cells = [c for c in nb.cells if not re.search(r"^#\|\s*hide", c.source, re.M)]
    nb.cells = [shown for c in nb.cells for shown in told(c)]
    for c in nb.cells:
        if c.cell_type != "code": continue
        c.source = re.sub(r"^#\|.*\n?", "", c.source, flags=re.M)
        c.outputs = [o for o in c.outputs if o.get("name") != "stderr"]          # what is logged is no part of the result
    nb.metadata.language_info = {"name": "python"}
    text, _ = MarkdownExporter().from_notebook_node(nb)
    text = re.sub(r"<style scoped>.*?</style>\s*", "", text, flags=re.S)
    # the page lies in nbs/, the README above it
    text = re.sub(r"\]\((?=[\w/]+\.(?:ipynb|png|html)\))", "](nbs/", text)
    return "<!-- nbs/index.ipynb에서 만든 파일입니다: make readme -->\n\n" + re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"

if __name__ == "__main__":
    path, text = ROOT/"README.md", readme()
    if "--check" in sys.argv: sys.exit(0 if path.is_file() and path.read_text(encoding="utf8") == text else "README.md가 nbs/index.ipynb와 다릅니다: make readme")
    path.write_text(text, encoding="utf8")

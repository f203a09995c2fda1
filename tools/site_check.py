"""Would the site build? What Quarto would be given is made and read, without Quarto: python tools/site_check.py [--still] [NOTEBOOK ...]

nbdev's own processors run over every notebook (each cell with an import and each exported cell is executed by them); every link, anchor and picture of
the pages is resolved; the sidebar names every page once; `_quarto.yml` keeps the keys that the site needs. `--still` executes nothing: links, sidebar and keys only.
"""
import argparse
import contextlib
import io
import os
import re
import sys
import unicodedata
import warnings
from pathlib import Path
from urllib.parse import unquote

import yaml

ROOT = Path(__file__).resolve().parent.parent
NBS = ROOT/"nbs"
os.environ.setdefault("MPLBACKEND", "agg")
LINK = re.compile(r"(?<!\\)!?\[(?:[^\[\]]|\[[^\[\]]*\])*\]\(\s*<?([^()\s<>]*(?:\([^()\s]*\)[^()\s]*)*)>?(?:\s+\"[^\"]*\")?\s*\)")
CODE = re.compile(r"(?ms)^(```|~~~).*?^\1|`[^`\n]*`")


def pages():
    "Every notebook of the site."
    return sorted(p for p in NBS.rglob("*.ipynb") if ".ipynb_checkpoints" not in p.parts)


def processed(path):
    "The notebook as nbdev hands it to Quarto; what its cells print is kept away."
    from execnb.nbio import read_nb
    from nbdev.processors import FilterDefaults
    here = os.getcwd()
    os.chdir(path.parent)
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            nb = read_nb(path)
            FilterDefaults()(nb)
            return nb
    finally:
        os.chdir(here)


def anchor(heading):
    "The identifier that pandoc (gfm_auto_identifiers off) gives a heading."
    text = re.sub(r"\{[^{}]*\}\s*$", "", heading).strip()
    text = re.sub(r"`|\*\*|\*|!?\[([^\[\]]*)\]\([^()]*\)", lambda m: m[1] or "", text)
    text = re.sub(r"\s", "-", "".join(c for c in text.lower() if c in "_-. " or unicodedata.category(c)[0] in "LNM" or c.isspace()))
    return re.sub(r"^[^\w]*", "", re.sub(r"^\d+(?=\D)|^[\W\d_]+", "", text)) or "section"


def markdown(cells):
    "The text of the pages' own cells, code aside."
    for c in cells:
        if c["cell_type"] == "markdown":
            yield "".join(c["source"])


def anchors(path, known):
    "The identifiers on a page."
    if path not in known:
        import json
        found, seen = set(), {}
        for text in markdown(json.loads(path.read_text(encoding="utf8"))["cells"]):
            for line in CODE.sub("", text).splitlines() if "```" in text else text.splitlines():
                if m := re.match(r"#{1,6}\s+(.*)", line):
                    name = anchor(m[1])
                    n = seen[name] = seen.get(name, -1) + 1
                    found.add(name if not n else f"{name}-{n}")
                found |= set(re.findall(r"\{#([\w.:-]+)", line)) | set(re.findall(r"id=[\"']([^\"']+)", line))
        known[path] = found
    return known[path]


def dead(path, known):
    "What the links and pictures of a page do not reach, a line each."
    import json
    for text in markdown(json.loads(path.read_text(encoding="utf8"))["cells"]):
        for target in LINK.findall(CODE.sub("", text)):
            if re.match(r"[a-z][a-z0-9+.-]*:", target) or not target:
                continue
            where, _, mark = unquote(target).partition("#")
            file = (path.parent/where).resolve() if where else path
            if not file.exists():
                yield f"{target}: no such file"
            elif mark and file.suffix == ".ipynb" and mark not in anchors(file, known):
                yield f"{target}: no such heading"


def listed(entry):
    "The files that a sidebar's entry names."
    if isinstance(entry, str):
        yield entry
    elif isinstance(entry, list):
        for e in entry:
            yield from listed(e)
    elif isinstance(entry, dict):
        if "href" in entry:
            yield entry["href"]
        yield from listed(entry.get("contents", []))
        if str(entry.get("section", "")).endswith(".ipynb"):
            yield entry["section"]


def configured():
    "What `_quarto.yml` lacks, a line each."
    config = yaml.safe_load((ROOT/"_quarto.yml").read_text(encoding="utf8"))
    site, html, plain = config["website"], config["format"].get("html", {}), config["format"].get("commonmark")
    if site.get("repo-subdir") != "nbs":
        yield "website.repo-subdir: nbs is missing (links to edit a page would be dead)"
    if "smart" not in str(config.get("from", html.get("from", ""))):
        yield "from: markdown-smart is missing (opening quotes of Korean would be turned)"
    if plain is not None and not (html.get("keep-md") or isinstance(plain, dict) and plain.get("keep-md")):
        yield "format.html.keep-md is missing (commonmark would take the pages' text away)"
    named = list(listed(site["sidebar"]["contents"] if isinstance(site["sidebar"], dict) else [s["contents"] for s in site["sidebar"]]))
    here = {p.relative_to(NBS).as_posix() for p in pages()}
    for name in sorted({n for n in named if n.endswith(".ipynb")} - here):
        yield f"sidebar: {name} is no page"
    for name in sorted({n for n in named if named.count(n) > 1}):
        yield f"sidebar: {name} stands twice"
    for name in sorted(here - set(named)):
        if not any("*" in n and Path(name).match(n) for n in named):
            yield f"sidebar: {name} is missing"


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--still", action="store_true")
    ap.add_argument("names", nargs="*")
    args = ap.parse_args()
    chosen = [Path(n).resolve() for n in args.names] or pages()
    bad, known = 0, {}
    for path in chosen:
        wrong = list(dead(path, known))
        try:
            if not args.still:
                processed(path)
        except Exception as e:          # whatever a cell raises ends nbdev's run
            cause = e.__cause__ or e
            wrong.append(f"nbdev's processors: {type(cause).__name__}: {str(cause)[:160]} | {str(e)[:300]}")
        for line in wrong:
            print(f"{path.relative_to(ROOT)}: {line}")
        bad += bool(wrong)
    wrong = list(configured()) if not args.names else []
    for line in wrong:
        print(f"_quarto.yml: {line}")
    print(f"{len(chosen) - bad} pages passed, {bad} failed, {len(wrong)} of _quarto.yml")
    return 1 if bad or wrong else 0


if __name__ == "__main__":
    sys.exit(main())

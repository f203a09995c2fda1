"""Would the site build? What Quarto would be given is made and read, without Quarto: python tools/site_check.py [--still] [NOTEBOOK ...]

nbdev's own processors run over every notebook (each cell with an import and each exported cell is executed by them); every link, anchor and picture of
the pages is resolved; the sidebar names every page once; `_quarto.yml` keeps the keys that the site needs; what visitors type (`SOUGHT`) finds its page among
the first three. `--still` executes nothing: links, sidebar, keys and search only. `--search WORD` shows what a word finds.

The search is an approximation of Quarto's: its script hands one document a section (the page's title, the heading of the second level, the text) to fuse.js
with the weights title 20, section 20, text 10, ignoreLocation, threshold 0.1, and shows a page once. Here the same score is computed for exact matches
(under ten letters the threshold allows no other): 0.001 to the power of weight/50 and 1/sqrt(words of the field), multiplied over the fields that hold the
word. What code cells print, and the order of pages that tie, may differ in a browser.
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


SOUGHT = {       # what a visitor types -> the pages that answer it, relative to nbs/
    "환각": "15_faithfulness", "충실성": "15_faithfulness", "형태소 확장": "11_morphology", "구어": "10_colloquial", "반말": "korean/01_formality",
    "말투": "korean/01_formality", "심판": "13_judge", "페르소나": "20_persona", "챗봇 시험": "tutorials/01_my_chatbot", "HWP": "data/03_hangul",
    "PDF": "data/04_pdf", "엑셀": "data/19_sheets", "학칙": "tutorials/00_my_rules data/06_book", "조례": "tutorials/00_my_rules",
    "임계값": "semantic_eval/00_calibration", "신뢰구간": "05_metrics", "GPU": "retrieval/01_faiss", "FAISS": "retrieval/01_faiss",
    "Milvus": "retrieval/04_milvus", "ragas": "judge/04_ragas", "LangChain": "experiment/05_foreign", "CI": "tutorials/04_in_ci", "pytest": "cli/06_cases",
    "대시보드": "samples persona/23_dashboard", "LLM 없이": "query_expansion/01_offline answering/02_extractive", "설치": "index", "라이선스": "index",
    "오타": "knowledge/04_typing", "인용": "claims/05_citing", "컨텍스트": "17_grading", "동의어": "knowledge/05_synonyms 16_query_expansion",
    "임베딩": "03_encoders", "벤치마크": "50_benchmark", "가중치": "14_weights", "개정": "data/08_editions", "BM25": "04_retrieval", "Ollama": "06_llm",
    "English": "english", "의미 평가": "12_semantic_eval", "표본": "samples"}


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
        plain = CODE.sub("", text)
        for target in LINK.findall(plain) + re.findall(r"!\[[^\[\]]*\]\(([^()\s]+)\)", plain):
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


def documents():
    "(page, title, heading of the section, text) of every section, as the site's search sees them."
    import json
    for path in pages():
        name, title, section, text = path.relative_to(NBS).with_suffix("").as_posix(), "", "", []
        for cell in markdown(json.loads(path.read_text(encoding="utf8"))["cells"]):
            for line in re.sub(r"(?ms)^```.*?^```", "", cell).splitlines():
                if m := re.match(r"# (.+)", line):
                    title = m[1].replace("`", "")
                elif m := re.match(r"## (.+)", line):
                    yield name, title, section, " ".join(text)
                    section, text = m[1].replace("`", ""), []
                else:
                    text.append(re.sub(r"\]\([^()]*\)|[`*>|]", " ", line))
        yield name, title, section, " ".join(text)


def found(word, of):
    "The pages that a search for a word shows, best first."
    best = {}
    for name, *fields in of:
        score, hit = 1., False
        for field, weight in zip(fields, (20, 20, 10)):
            if word.lower() in field.lower():
                match = sys.float_info.epsilon if field.lower() == word.lower() else .001
                score, hit = score*match**(weight/50*round(1/len(field.split())**.5, 3)), True
        if hit:
            best[name] = min(score, best.get(name, 1.))
    return sorted(best, key=best.get)


def unfound():
    "A line for each word that does not find its page among the first three."
    of = list(documents())
    for word, wanted in SOUGHT.items():
        first = found(word, of)[:3]
        if not set(wanted.split()) & set(first):
            yield f"search '{word}': {', '.join(first) or 'nothing'}; not {wanted}"


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--still", action="store_true")
    ap.add_argument("--search", metavar="WORD")
    ap.add_argument("names", nargs="*")
    args = ap.parse_args()
    if args.search:
        return print("\n".join(found(args.search, documents())[:10]))
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
    wrong, lost = (list(configured()), list(unfound())) if not args.names else ([], [])
    for line in wrong:
        print(f"_quarto.yml: {line}")
    print("".join(f"{line}\n" for line in lost), end="")
    print(f"{len(chosen) - bad} pages passed, {bad} failed, {len(wrong)} of _quarto.yml; {len(SOUGHT) - len(lost)} of {len(SOUGHT)} searches find their page")
    return 1 if bad or wrong or lost else 0


if __name__ == "__main__":
    sys.exit(main())

"""The sidebar of the site, from the folders: python tools/sidebar.py writes it into _quarto.yml; --check only compares.

Above: what a visitor comes for, about fifteen entries. Below, closed at first: every other page under 'API (모듈)', folder by folder. An entry
is the page's Korean title with its module beside it; where a title has no Korean, the first clause of its blurb stands for it.
"""
import re
import sys

from folders import NBS, ROOT, by_number, door, module_of, read, rooms, source, title_of

QUARTO = ROOT/"_quarto.yml"
EIGHT = ("colloquial", "morphology", "semantic_eval", "judge", "weights", "faithfulness", "query_expansion", "persona")     # the eight phases of the specs
ABOVE = ("answering", "benchmark", "cli")          # further doors that a visitor comes for
HANGUL = re.compile("[가-힣]")


def module_title(path) -> str:
    "What an entry says: '오타: 잘못 친 글자 (knowledge.typing)'."
    cells = read(path)
    title, module = title_of(cells), (module_of(cells) or "").removesuffix(".__init__")
    if not HANGUL.search(title):
        blurb = next(m[1] for c in cells if (m := re.search(r"(?m)^> (.+)", source(c))))
        title = re.split(r"[:(]", blurb)[0].strip(" :")
    if module in ("__init__", "__main__", "") or f"({module})" in title:
        return title
    return f"{re.sub(r' *[(][a-z_.]+[)]$', '', title)} ({module})"


def quoted(text) -> str:
    "A title as YAML keeps it."
    return '"' + text.replace("\\", "").replace('"', "'").replace("`", "") + '"'


def entry(path, indent, text=None) -> list[str]:
    "One page of the sidebar."
    pad = " "*indent
    return [f"{pad}- text: {quoted(text or module_title(path))}", f"{pad}  href: {path.relative_to(NBS).as_posix()}"]


def section(title, paths, indent) -> list[str]:
    "Pages under a heading."
    pad = " "*indent
    return [f"{pad}- section: {quoted(title)}", f"{pad}  contents:", *(line for p in paths for line in entry(p, indent + 4))]


def sidebar() -> str:
    "The lines below `contents:`."
    lines = entry(NBS/"index.ipynb", 6, "처음") + entry(NBS/"english.ipynb", 6, "In English")
    lines += section("시작하기", sorted((NBS/"tutorials").glob("*.ipynb")), 6)
    for n, folder in enumerate(EIGHT, 1):
        lines += entry(door(folder), 6, f"{n} {module_title(door(folder))}")
    for folder in ABOVE:
        lines += entry(door(folder), 6)
    lines += entry(NBS/"samples.ipynb", 6)
    lines += section("연구", sorted((NBS/"studies").glob("*.ipynb")), 6)
    lines += ['      - section: "API (모듈)"', "        contents:"]
    for folder in by_number():
        above = folder in (*EIGHT, *ABOVE)
        if pages := [*([] if above else [door(folder)]), *rooms(folder)]:
            lines += section(module_title(door(folder)), pages, 10)
    return "\n".join(lines) + "\n"


def main():
    text = QUARTO.read_text(encoding="utf8")
    new = re.sub(r"(?ms)(^  sidebar:\n.*?^    contents:\n)(?:^      .*\n)+", lambda m: m[1] + sidebar(), text)
    if "--check" in sys.argv:
        if new != text:
            sys.exit("_quarto.yml: 옆줄이 폴더와 다릅니다: python tools/sidebar.py")
        print("the sidebar follows the folders")
    elif new != text:
        QUARTO.write_text(new, encoding="utf8")


if __name__ == "__main__":
    main()

"""The sidebar of the site, from the folders: python tools/sidebar.py writes it into _quarto.yml; --check only compares."""
import re
import sys

from folders import NBS, ROOT, by_number, door, read, rooms, title_of

QUARTO = ROOT/"_quarto.yml"


def sidebar() -> str:
    "The lines below `contents:`."
    lines = ["      - index.ipynb"]
    for folder in by_number():
        pages = [door(folder), *rooms(folder)]
        names = ", ".join(p.relative_to(NBS).as_posix() for p in pages)
        lines += [f'      - section: "{heading(folder)}"', f"        contents: [{names}]"]
    for name, title in (("tutorials", "따라 하기"), ("studies", "연구")):
        if pages := sorted((NBS/name).glob("*.ipynb")):
            names = ", ".join(p.relative_to(NBS).as_posix() for p in pages)
            lines += [f"      - section: {title}", f"        contents: [{names}]"]
    return "\n".join(lines) + "\n"


def heading(folder):
    "The title of a folder: that of its door, without quotes."
    return title_of(read(door(folder))).replace('"', "'")


def main():
    text = QUARTO.read_text(encoding="utf8")
    new = re.sub(r"(?ms)(^  sidebar:\n.*?^    contents:\n)(?:^      .*\n|^        .*\n)+", lambda m: m[1] + sidebar(), text)
    if "--check" in sys.argv:
        if new != text:
            sys.exit("_quarto.yml: 옆줄이 폴더와 다릅니다: python tools/sidebar.py")
        print("the sidebar follows the folders")
    elif new != text:
        QUARTO.write_text(new, encoding="utf8")


if __name__ == "__main__":
    main()

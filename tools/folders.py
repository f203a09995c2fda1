"""The floor plan: one ordered list of the folders. A module may import from its own folder and from those before it."""
import json
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NBS = ROOT/"nbs"

FOLDERS = {          # folder -> number of its door nbs/NN_folder.ipynb
    "core": "00", "korean": "02", "data": "01", "metrics": "05", "llm": "06", "encoders": "03", "retrieval": "04",
    "claims": "07", "knowledge": "08", "relevance": "09",
    "colloquial": "10", "morphology": "11", "semantic_eval": "12", "judge": "13", "weights": "14", "faithfulness": "15",
    "query_expansion": "16", "grading": "17",
    "answering": "18", "experiment": "30", "report": "40", "persona": "20", "benchmark": "50", "cli": "90"}
PHASES = ("colloquial", "morphology", "semantic_eval", "judge", "weights", "faithfulness", "query_expansion", "grading")


def source(cell) -> str:
    "The text of a cell."
    return "".join(cell["source"])


def module_of(cells) -> str|None:
    "What a notebook exports to, e.g. 'claims.numbers'; None for one that exports nothing."
    return next((m[1] for c in cells if (m := re.search(r"#\|\s*default_exp:?\s*(\S+)", source(c)))), None)


def title_of(cells) -> str:
    "The '# title' of a notebook."
    return next((m[1] for c in cells if c["cell_type"] == "markdown" and (m := re.match(r"# (.+)", source(c)))), "")


def read(path:Path) -> list:
    "The cells of a notebook."
    return json.loads(path.read_text(encoding="utf8"))["cells"]


def door(folder:str) -> Path:
    "The notebook of a folder that tells its story."
    return NBS/f"{FOLDERS[folder]}_{folder}.ipynb"


def rooms(folder:str) -> list[Path]:
    "The other notebooks of a folder, in order."
    return sorted((NBS/folder).glob("*.ipynb"))


def by_number() -> list[str]:
    "The folders in the order of their numbers: how a reader meets them."
    return sorted(FOLDERS, key=FOLDERS.get)

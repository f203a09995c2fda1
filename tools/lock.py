"""Write constraints.txt: the exact version of everything installed here, so that the same clone works next year."""
import sys
from importlib.metadata import distributions
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HEAD = """# Exact versions for a reproducible set-up (`make setup`); written by `make lock`.
# Tried: Python 3.11 with every extra; 3.12 and 3.13 with all but those that need torch (dense, bge).
# torch is named here so that an extra that needs it takes the CPU build that was tested, not the newest CUDA one.
torch==2.13.0
"""
skip = {"rag-quality", "rag-quality-reader", "torch"}
rows = sorted({f"{d.metadata['Name'].lower()}=={d.version}" for d in distributions() if d.metadata["Name"].lower() not in skip})
(ROOT/"constraints.txt").write_text(HEAD + "\n".join(rows) + "\n", encoding="utf8")
print(f"constraints.txt: {len(rows)} versions, Python {sys.version.split()[0]}")

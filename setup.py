"""What pyproject.toml cannot say of a wheel: the index of names (rag_quality/_modidx.py, which nbdev writes with an indent for the eye) stands without white space,
a quarter of its size, and the needs of hanbit are compressed, an eighth of theirs (`rag_quality.benchmark.data` reads both)."""
import lzma
import runpy
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py


class BuildPy(build_py):
    def run(self):
        super().run()
        if self.editable_mode:
            return
        path = Path(self.build_lib, "rag_quality/_modidx.py")
        if path.is_file():
            names = runpy.run_path(str(path))["d"]
            path.unlink()          # it may be a link to the checkout's
            path.write_text(f"d = {names!r}\n", encoding="utf8")
        needs = Path(self.build_lib, "rag_quality/_bundle/hanbit/needs.jsonl")
        if needs.is_file():
            content = needs.read_bytes()
            needs.unlink()
            Path(f"{needs}.xz").write_bytes(lzma.compress(content, preset=9))


setup(cmdclass={"build_py": BuildPy})

"""What pyproject.toml cannot say: in a wheel the index of names (rag_quality/_modidx.py, which nbdev writes with an indent for the eye) stands without white space, a quarter of its size."""
import runpy
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py


class BuildPy(build_py):
    def run(self):
        super().run()
        path = Path(self.build_lib, "rag_quality/_modidx.py")
        if not self.editable_mode and path.is_file():
            names = runpy.run_path(str(path))["d"]
            path.unlink()          # it may be a link to the checkout's
            path.write_text(f"d = {names!r}\n", encoding="utf8")


setup(cmdclass={"build_py": BuildPy})

"""As many pieces of work at once as there are cores, over all processes of one run of checks.

`with slot():` around a piece that keeps one core busy. Without RAG_QUALITY_SLOTS (the folder of locks that tools/check.py makes) nothing waits.
"""
import fcntl
import os
import time
from contextlib import contextmanager
from pathlib import Path

VARIABLE = "RAG_QUALITY_SLOTS"
PAUSE_S = .05


def free(folder):
    "A lock that nobody holds, or None."
    for path in sorted(Path(folder).iterdir()):
        lock = path.open("w")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return lock
        except BlockingIOError:
            lock.close()


def make(folder, n):
    "A folder of `n` locks, told to every process that is started from here."
    for i in range(n):
        (Path(folder)/str(i)).touch()
    os.environ[VARIABLE] = str(folder)


@contextmanager
def slot():
    "Wait for a core; it is given back at the end, and when the process dies."
    folder = os.environ.get(VARIABLE)
    if not folder:
        yield
        return
    while (lock := free(folder)) is None:
        time.sleep(PAUSE_S)
    try:
        yield
    finally:
        lock.close()

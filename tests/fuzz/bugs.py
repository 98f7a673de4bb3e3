"""Planted bugs, to check that they are found: every kind of failure, among valid cases."""

from __future__ import annotations

import ctypes
import os
import random
import threading
from pathlib import Path

from .kind import CANARY, Case, Kind, WrongError

FOUND = {
    "good": None,
    "refused": None,
    "crash": "the process was ended by SIGSEGV",
    "abort": "the process was ended by SIGABRT",
    "exit": "the process ended with status 0",
    "hang": "no answer within 1 s",
    "code": "wrong",
    "error": "wrong",
    "nonsense": "wrong",
}
"""Report of the runner for each bug; None: no report."""


def bug_of(choose: random.Random) -> str:
    return choose.choice(list(FOUND))


def begin(folder: Path, own: Path) -> Case:
    assert (folder / "prepared").exists()
    assert own.is_dir()
    return _do


def _do(choose: random.Random) -> str:
    bug = bug_of(choose)
    if bug == "crash":
        ctypes.string_at(8)
    elif bug == "abort":
        os.abort()
    elif bug == "exit":
        os._exit(0)
    elif bug == "hang":
        threading.Event().wait()
    elif bug == "code":
        os.system(f"touch {os.environ[CANARY]}")
    elif bug == "error":
        {}["a key"]
    elif bug == "nonsense":
        raise WrongError("two and two are five")
    return bug


KIND = Kind("bugs", 40, begin, prepare=lambda folder: (folder / "prepared").touch(), seconds=1)

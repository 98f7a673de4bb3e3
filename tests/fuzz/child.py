"""The process that does cases: ``python -m fuzz.child KIND FOLDER SEED FIRST LAST REPORT``.

Before a case it writes the number, afterwards how it ended, so that a death has an owner.
"""

from __future__ import annotations

import faulthandler
import importlib
import json
import os
import random
import resource
import sys
import tempfile
import traceback
from pathlib import Path

from .instrumented import use_graph_library
from .kind import CANARY, Kind

_MEMORY = 12 << 30
"""Bytes of data; a case that needs more has taken what it was told to."""


def kind_of(name: str) -> Kind:
    kind = importlib.import_module(f"fuzz.{name}").KIND
    assert isinstance(kind, Kind)
    return kind


def run(kind: Kind, folder: Path, seed: str, numbers: range, report: int) -> None:
    def write(*record: object) -> None:
        os.write(report, json.dumps(record).encode() + b"\n")

    with tempfile.TemporaryDirectory() as own:
        case = kind.begin(folder, Path(own))
        for number in numbers:
            write(number, "begins", "")
            try:
                end, said = case(random.Random(f"{seed} {kind.name} {number}")), ""
            except KeyboardInterrupt:
                raise
            except BaseException as error:  # noqa: BLE001 - whatever it is, it is a finding
                where = traceback.extract_tb(error.__traceback__)[-1]
                end = "failed"
                said = f"{type(error).__name__}: {error!r:.300} in {where.filename}:{where.lineno}"
            if Path(os.environ[CANARY]).exists():
                Path(os.environ[CANARY]).unlink()
                end, said = "failed", "it ran code"
            write(number, end, said)
    os._exit(0)  # what libraries do at the end is their own affair


def main() -> None:
    name, folder, seed, first, last, report = sys.argv[1:]
    # Sanitizers set aside more than there is.
    if not use_graph_library():
        resource.setrlimit(resource.RLIMIT_DATA, (_MEMORY, _MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    faulthandler.enable()
    kind = kind_of(name)
    if first == "prepare":
        kind.prepare(Path(folder))
    else:
        run(kind, Path(folder), seed, range(int(first), int(last)), int(report))


if __name__ == "__main__":
    main()

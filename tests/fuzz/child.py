"""The processes that run cases, which :mod:`.runner` starts."""

from __future__ import annotations

import faulthandler
import importlib
import os
import random
import resource
import traceback
from pathlib import Path

from diopi_proto.worker.limits import lower_limit

from .instrumented import use_graph_library
from .kind import CANARY, Kind

_MEMORY = 12 << 30
"""Limit of data memory in bytes; a case that needs more has trusted a size in its input."""


def kind_of(name: str) -> Kind:
    kind = importlib.import_module(f"fuzz.{name}").KIND
    assert isinstance(kind, Kind)
    return kind


class Cases:
    """Handler of requests: "prepare", "begin", then numbers of cases, whose outcome is returned.

    :param own: a folder of this child.
    """

    def __init__(self, name: str, folder: Path, seed: str, own: Path) -> None:
        # Sanitizers reserve more address space than the limit.
        if not use_graph_library():
            lower_limit(resource.RLIMIT_DATA, _MEMORY)
        faulthandler.enable()
        if (stray := own.with_name("stray")).exists():
            os.chdir(stray)
        self._kind, self._folder, self._seed, self._own = kind_of(name), folder, seed, own

    def __call__(self, request: str | int) -> tuple[str, str]:
        if request == "prepare":
            self._kind.prepare(self._folder)
            return "prepared", ""
        if request == "begin":
            self._case = self._kind.begin(self._folder, self._own)
            return "begun", ""
        try:
            end = self._case(random.Random(f"{self._seed} {self._kind.name} {request}"))
            said = ""
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - any exception is a finding
            where = traceback.extract_tb(error.__traceback__)[-1]
            end = "failed"
            said = f"{type(error).__name__}: {error!r:.300} in {where.filename}:{where.lineno}"
        if Path(os.environ[CANARY]).exists():
            Path(os.environ[CANARY]).unlink()
            end, said = "failed", "it ran code"
        return end, said

"""The processes that run cases, which :mod:`.runner` starts."""

from __future__ import annotations

import faulthandler
import importlib
import os
import random
import resource
import traceback
from collections.abc import Callable
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


def prepare(name: str, folder: Path) -> Callable[[None], None]:
    """Return a handler of the request to fill the folder of a kind."""
    confine()

    def handle(_: None) -> None:
        kind_of(name).prepare(folder)

    return handle


def confine() -> None:
    """Limit memory, and print the stack at a crash."""
    # Sanitizers reserve more address space than the limit.
    if not use_graph_library():
        lower_limit(resource.RLIMIT_DATA, _MEMORY)
    faulthandler.enable()


class Cases:
    """Handler of requests: the number of a case requests its outcome.

    :param own: a folder of this child.
    """

    def __init__(self, name: str, folder: Path, seed: str, own: Path) -> None:
        confine()
        os.chdir(own.with_name("stray"))
        self._seed = f"{seed} {name}"
        self._case = kind_of(name).begin(folder, own)

    def __call__(self, number: int) -> tuple[str, str]:
        try:
            end = self._case(random.Random(f"{self._seed} {number}"))
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

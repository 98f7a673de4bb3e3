"""Helpers for tests of single operators, with the names of DICP's ``common.utils``.

A test imports them, and its ``conftest.py`` imports :func:`pytest_addoption`, after which pytest
takes ``--backend NAME --dynamic false|true|all``.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
import torch._dynamo as dynamo

from dl_dicp.dicp_backends import VENDORS
from dl_dicp.engines.names import is_known, names

__all__ = [
    "CompiledModel",
    "Size",
    "compile_model",
    "dynamo",
    "get_device",
    "parse_args",
    "pytest_addoption",
    "torch",
    "update_dynamo_config",
]

_DYNAMIC = {"false": (False,), "true": (True,), "all": (False, True)}


@dataclass(frozen=True)
class Size:
    """Sizes of an input in tests with static and with dynamic shapes."""

    static: Any
    dynamic: Any


@dataclass(frozen=True)
class CompiledModel:
    """A compiled model.

    :ivar dynamic: whether it was compiled for symbolic sizes.
    """

    model: Callable[..., Any]
    dynamic: bool


def pytest_addoption(parser: Any) -> None:
    """Add the options of :func:`parse_args` to pytest."""
    _add_options(parser.addoption)


def parse_args(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Return ``backend`` and ``dynamic`` of the command line; other options are ignored."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    _add_options(parser.add_argument)
    return parser.parse_known_args(sys.argv[1:] if arguments is None else arguments)[0]


def compile_model(model: Any, backend: str, dynamic: str | bool = "false") -> list[CompiledModel]:
    """Compile a model for each kind of shapes.

    :param backend: a backend of torch that dl-dicp has, or an engine for the backend dl.
    :param dynamic: ``"false"``, ``"true"`` or ``"all"``; a boolean means one kind.
    :raises ValueError: the backend or the kind is unknown.
    """
    kinds = _DYNAMIC.get(str(dynamic).lower())
    if kinds is None:
        raise ValueError(f"[compile_model] dynamic={dynamic!r} is not one of {', '.join(_DYNAMIC)}")
    options: dict[str, Any] = {}
    if backend not in ("dl", *VENDORS):
        if not is_known(backend):
            known = ", ".join(("dl", *VENDORS, *names()))
            raise ValueError(f"[compile_model] unknown backend {backend!r}; available: {known}")
        backend, options = "dl", {"engine": backend}
    return [
        CompiledModel(
            torch.compile(model, backend=backend, dynamic=kind, options=options or None), kind
        )
        for kind in kinds
    ]


def get_device() -> str:
    """Return the device of the tests."""
    return "dl:0"


def update_dynamo_config(dynamic: bool) -> None:
    """Set Dynamo's treatment of sizes for the following compilation."""
    dynamo.config.assume_static_by_default = not dynamic
    dynamo.config.automatic_dynamic_shapes = dynamic


def _add_options(add: Callable[..., Any]) -> None:
    add("--backend", default="dl", help="backend or engine to test (default: dl)")
    add("--dynamic", default="false", choices=[*_DYNAMIC], help="kinds of shapes (default: false)")

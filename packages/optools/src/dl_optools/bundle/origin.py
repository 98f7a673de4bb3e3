"""Origin of a bundle's call: operator, thread settings, program, versions."""

from __future__ import annotations

import dataclasses
import functools
import importlib.metadata
import platform
from collections.abc import Callable, Sequence
from typing import Any

import torch

from dl_optools.names import Level
from dl_optools.stacks import Frame


def schema_of(function: Callable[..., Any]) -> str | None:
    """Return the schema of an overload as text."""
    schema = getattr(function, "_schema", None)
    return None if schema is None else str(schema)


def context_of(device: str, level: Level) -> dict[str, Any]:
    """Return the settings of this thread that affect operators of the API."""
    api = level is Level.API
    return {
        "grad": api and torch.is_grad_enabled(),
        "default_dtype": str(torch.get_default_dtype()).removeprefix("torch."),
        "autocast": {
            name: str(torch.get_autocast_dtype(name)).removeprefix("torch.")
            for name in sorted({"cpu", device})
            if api and torch.is_autocast_enabled(name)
        },
    }


def program_of(
    number: int, module: str, parent: str | None, backward: bool, stack: Sequence[Frame]
) -> dict[str, Any]:
    """Return the location of a call in its program."""
    return {
        "call": number,
        "module": module,
        "parent": parent,
        "backward": backward,
        "stack": [dataclasses.asdict(frame) for frame in stack],
    }


@functools.cache
def software() -> dict[str, str]:
    """Return the versions of Python, torch and our packages."""
    ours = {
        str(found.name): found.version
        for found in importlib.metadata.distributions()
        if str(found.name).replace("_", "-").startswith("dl-")
    }
    return {
        "python": platform.python_version(),
        "platform": platform.platform(),
        "torch": str(torch.__version__),
        **dict(sorted(ours.items())),
    }

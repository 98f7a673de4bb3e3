"""Engines by name: the executor's own ways, and what the plugins of this process add."""

from __future__ import annotations

import threading
from functools import cache
from typing import cast

import torch

from dl_core.contributions import Contribution
from dl_core.manager import PluginManager

from .interface import GraphEngine

EXECUTOR = ("contract", "tiled")
"""How the executor runs a graph: each call as a whole, or groups of calls block by block."""
CODEGEN = "codegen"
"""The engine whose kernels are compiled for a device while the executor runs."""
CAPTURE = "capture"
"""The executor's calls are recorded in a device graph of the vendor's, and replayed."""
INDUCTOR = "inductor"
"""Torch's own compiler, which gets graphs of torch instead of the contract's."""
OWN = (*EXECUTOR, CODEGEN, CAPTURE, INDUCTOR)

_lock = threading.Lock()
_opened: dict[tuple[str, torch.device], GraphEngine | str] = {}


@cache
def contributed() -> dict[str, Contribution]:
    """Engines of plugins. Names of our own are taken."""
    manager = PluginManager.of_environment()
    manager.load()
    found = manager.contributions("dl_graph_engines")
    return {each.name: each for _, each in found if each.name not in OWN}


def names() -> tuple[str, ...]:
    """All that the option ``engine`` may be."""
    return (*OWN, *sorted(contributed()))


def is_known(name: object) -> bool:
    """Whether there is such an engine. Our own cost no look at plugins."""
    return isinstance(name, str) and (name in OWN or name in contributed())


def opened(name: str, device: torch.device) -> GraphEngine | str:
    """An engine for a device, loaded once; or why it cannot be.

    :param name: ``"codegen"``, or one of :func:`contributed`, which are for all devices.
    """
    with _lock:
        if (name, device) not in _opened:
            _opened[name, device] = _compiling(device) if name == CODEGEN else _open(name)
        return _opened[name, device]


def forget() -> None:
    """Look for plugins, and load their engines, anew."""
    with _lock:
        _opened.clear()
    contributed.cache_clear()


def _compiling(device: torch.device) -> GraphEngine | str:
    from dl_dicp.codegen.open import open_for  # few choose it

    return open_for(device)


def _open(name: str) -> GraphEngine | str:
    try:
        engine = contributed()[name].load()
    except Exception as error:  # noqa: BLE001 - whatever a wheel raises, models run without it
        return f"it does not load: {type(error).__name__}: {error}"
    missing = [
        each for each in ("version", "accepts", "compile", "load") if not hasattr(engine, each)
    ]
    if missing:
        return f"{engine!r} is no graph engine: it has no {', '.join(missing)}"
    return cast("GraphEngine", engine)

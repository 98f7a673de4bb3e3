"""Engines by name. A module is imported when a program chooses its engine."""

from __future__ import annotations

import threading
from collections.abc import Callable
from importlib import import_module
from typing import cast

import torch

from dl_dicp.program.document import FIXED, Scope
from dl_dicp.recording.shapes import Sizes

from .engine import Engine
from .interface import GraphEngine
from .names import OWN, contributed

_OF_PLUGINS = "dl_dicp.engines.plugins:PluginEngine"

_lock = threading.Lock()
_opened: dict[tuple[str, torch.device], GraphEngine | str] = {}


def create(name: str, *, scope: Scope = FIXED, example: Sizes | None = None) -> Engine:
    """Return an engine for one program.

    :param name: one of :func:`.names.names`.
    :param scope: the sizes that the program serves.
    :param example: sizes of the symbols in the first call.
    """
    return engine_class(name)(name, scope=scope, example=example)


def engine_class(name: str) -> type[Engine]:
    """Return the class of an engine, one of :func:`.names.names`."""
    module, _, attribute = OWN.get(name, _OF_PLUGINS).partition(":")
    return cast("type[Engine]", getattr(import_module(module), attribute))


def open_once(
    name: str, device: torch.device, open_engine: Callable[[], GraphEngine | str]
) -> GraphEngine | str:
    """Return a graph engine for a device, opened once, or why it cannot be opened."""
    with _lock:
        if (name, device) not in _opened:
            _opened[name, device] = open_engine()
        return _opened[name, device]


def forget() -> None:
    """Clear the caches, so that plugins and graph engines are loaded again."""
    with _lock:
        _opened.clear()
    contributed.cache_clear()

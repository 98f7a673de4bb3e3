"""What the names of ``torch.cuda`` become: those of ``torch.dl``, nothing at all, or a refusal."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

import torch

from dl_core.torch_backend import module
from dl_core.torch_backend._utils import _get_device_index
from dl_core.torch_backend.refused import REFUSED

Row = tuple[Any, str, Any]

_MODULES = ("memory", "random", "streams")
"""Modules in torch.cuda whose names stand in torch.cuda too."""


def _nothing(*_: Any, **__: Any) -> None:
    """Marks something for a tool of NVIDIA's, which is not watching."""


@contextmanager
def _nothing_within(*_: Any, **__: Any) -> Iterator[None]:
    """The same, as a context manager or decorator."""
    yield


def _call(function: Callable[[], Any], **_: Any) -> None:
    function()


_OTHERS: dict[str, dict[str, Any]] = {
    "torch.cuda": {
        "_initialized": True,
        "_is_in_bad_fork": module._is_in_bad_fork,
        "_lazy_call": _call,
        "_lazy_init": module._lazy_init,
        "_get_device_index": _get_device_index,
        "default_generators": None,  # when it is turned on
    },
    "torch.cuda._utils": {"_get_device_index": _get_device_index},
    "torch.cuda.memory": {
        "_record_memory_history": module._record_memory_history,
        "_snapshot": module._snapshot,
    },
    "torch.cuda.nvtx": {
        "range_push": _nothing,
        "range_pop": _nothing,
        "range_start": _nothing,
        "range_end": _nothing,
        "mark": _nothing,
        "range": _nothing_within,
    },
    "torch.cuda.profiler": {"start": _nothing, "stop": _nothing, "profile": _nothing_within},
}
"""Private names that torch and programs use, and what only marks. ``_is_compiled`` is left: torch
asks it whether functions of its C++ half are there."""


def cuda_module() -> Iterator[Row]:
    """The rows for torch.cuda and the modules in it."""
    from importlib import import_module

    for name in torch.cuda.__all__:
        value = getattr(torch.cuda, name)
        if not inspect.ismodule(value):
            yield from _rows(torch.cuda, name, value)
    for part in _MODULES:
        within = import_module(f"torch.cuda.{part}")
        for name in torch.cuda.__all__:
            if name in vars(within) and not inspect.ismodule(vars(within)[name]):
                yield from _rows(within, name, vars(within)[name])
    for path, given in _OTHERS.items():
        owner = import_module(path)
        for name, value in given.items():
            if name in vars(owner):
                yield owner, name, module.default_generators if value is None else value


def _rows(owner: ModuleType, name: str, value: Any) -> Iterator[Row]:
    try:
        yield owner, name, getattr(module, name)
    except AttributeError:
        yield owner, name, _refused(name, value)


def _refused(name: str, value: Any) -> Any:
    message = (
        f"[torch.cuda.{name}] CUDA is mocked by dl, which has none: "
        f"{REFUSED.get(name, 'torch.dl has no such name')}"
    )

    def refuse(*_: Any, **__: Any) -> Any:
        raise NotImplementedError(message)

    if inspect.isclass(value):
        return type(name, (), {"__module__": "torch.cuda", "__new__": refuse, "__doc__": message})
    refuse.__name__, refuse.__doc__ = name, message
    return refuse

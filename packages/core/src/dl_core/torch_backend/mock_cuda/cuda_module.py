"""Replacements for the names of ``torch.cuda``: functions of ``torch.dl``, no-ops, or errors."""

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

_MODULES = ("graphs", "green_contexts", "memory", "random", "streams")
"""Modules of torch.cuda whose names ``torch.cuda`` itself also has."""

_OF_CUDA_ALONE = ("gds", "nccl", "sparse", "tunable")
"""Modules of torch.cuda whose public functions need CUDA's libraries: every function raises an
error unless it is in ``_OTHERS``."""

_NCCL = (2, 10, 0)
"""The first NCCL release that has every operation and dtype of dl's own backend."""


def _nothing(*_: Any, **__: Any) -> None:
    """Do nothing, instead of marking a range for one of NVIDIA's tools."""


@contextmanager
def _nothing_within(*_: Any, **__: Any) -> Iterator[None]:
    """Same, as a context manager or decorator."""
    yield


def _no(*_: Any, **__: Any) -> bool:
    """Report that a CUDA library is not in use."""
    return False


def _nccl_version() -> tuple[int, int, int]:
    """Return a version for programs that check the features of NCCL."""
    return _NCCL


def _call(function: Callable[[], Any], **_: Any) -> None:
    function()


_OTHERS: dict[str, dict[str, Any]] = {
    "torch.cuda": {
        "_initialized": True,
        "_is_in_bad_fork": module._is_in_bad_fork,
        "_lazy_call": _call,
        "_lazy_init": module._lazy_init,
        "_get_device_index": _get_device_index,
        "default_generators": None,  # set when mocking starts
    },
    "torch.cuda._utils": {"_get_device_index": _get_device_index},
    "torch.cuda.memory": {
        "_dump_snapshot": module._dump_snapshot,
        "_record_memory_history": module._record_memory_history,
        "_snapshot": module._snapshot,
    },
    "torch.cuda.nccl": {"is_available": _no, "version": _nccl_version},
    "torch.cuda.tunable": {
        "is_enabled": _no,
        "tuning_is_enabled": _no,
        "record_untuned_is_enabled": _no,
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
"""Private names that torch and programs use, and markers. ``_is_compiled`` is not replaced: torch
uses it to find out whether its C++ part has CUDA functions."""


def cuda_module() -> Iterator[Row]:
    """Yield the replacements of torch.cuda and of its modules."""
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
    for part in _OF_CUDA_ALONE:
        within = import_module(f"torch.cuda.{part}")
        for name in _public(within) - _OTHERS.get(within.__name__, {}).keys():
            yield within, name, _make_refusal(f"{part}.{name}", vars(within)[name], REFUSED[part])
    import_module("torch.cuda.comm")  # programs use it as an attribute
    for path, given in _OTHERS.items():
        owner = import_module(path)
        for name, value in given.items():
            if name in vars(owner):
                yield owner, name, module.default_generators if value is None else value


def _public(within: ModuleType) -> set[str]:
    """Return the names of the public functions and classes that a module defines."""
    return {
        name
        for name, value in vars(within).items()
        if name[0] != "_"
        and callable(value)
        and getattr(value, "__module__", None) == within.__name__
    }


def _rows(owner: ModuleType, name: str, value: Any) -> Iterator[Row]:
    try:
        yield owner, name, getattr(module, name)
    except AttributeError:
        yield (
            owner,
            name,
            _make_refusal(name, value, REFUSED.get(name, "torch.dl has no such name")),
        )


def _make_refusal(path: str, value: Any, reason: str) -> Any:
    message = f"[torch.cuda.{path}] CUDA is mocked by dl, which does not support it: {reason}"
    name = path.rpartition(".")[2]

    def refuse(*_: Any, **__: Any) -> Any:
        raise NotImplementedError(message)

    if inspect.isclass(value):
        return type(name, (), {"__module__": "torch.cuda", "__new__": refuse, "__doc__": message})
    refuse.__name__, refuse.__doc__ = name, message
    return refuse

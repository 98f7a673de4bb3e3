"""Operators that are not decomposed while a graph is traced.

Torch decomposes interpolation into many elementwise and indexing operators, for compilers that fuse
them. Vendors have operators for interpolation, for eager mode and for graphs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, partial
from typing import Any

import torch
from torch import Tensor
from torch._C import DispatchKey
from torch._decomp.decompositions import upsample_compute_output_size
from torch._prims_common import suggest_memory_format
from torch._subclasses.fake_impls import op_implementations_dict

KEYS = (DispatchKey.Autograd, DispatchKey.CompositeImplicitAutograd)
"""Torch's tables of Python decompositions."""


def interpolated(whole: Any, x: Tensor, size: Sequence[int] | None, *rest: Any) -> Tensor:
    """Call the overload that takes both a size and scale factors for one that takes either.

    :param whole: overload to call.
    :param rest: arguments after the size; the last one is the scale factors.
    """
    *flags, factors = rest
    sizes = upsample_compute_output_size(x.size(), size, factors)
    result: Tensor = whole(x, sizes, *flags, *(factors or [None] * len(sizes)))
    return result


def shaped(mode: Any, _: Any, x: Tensor, size: Sequence[Any], *__: Any, **___: Any) -> Tensor:
    """Return the fake result for symbolic sizes: torch's own rule expects integers."""
    return _like(mode, x, (*x.shape[:2], *size))


def shaped_gradient(
    mode: Any, _: Any, grad: Tensor, __: Any, size: Sequence[Any], *___: Any, **____: Any
) -> Tensor:
    """Return the fake result of the gradient operator for this input size."""
    return _like(mode, grad, size)


def _like(mode: Any, given: Tensor, size: Sequence[Any]) -> Tensor:
    with mode:
        return given.new_empty(size).contiguous(memory_format=suggest_memory_format(given))


@cache
def _packets() -> tuple[Any, ...]:
    names = (name for name in dir(torch.ops.aten) if name.lstrip("_").startswith("upsample_"))
    return tuple(getattr(torch.ops.aten, name) for name in names)


def _is_gradient(packet: Any) -> bool:
    return "backward" in packet.__name__


@cache
def _shapes() -> dict[Any, Callable[..., Any]]:
    """Return the functions that compute fake results, by operator."""
    return {each.default: shaped_gradient if _is_gradient(each) else shaped for each in _packets()}


@cache
def _kernels() -> dict[Any, Callable[..., Any] | None]:
    """Return replacements for torch's decompositions by operator; None for the C++ kernel."""
    found: dict[Any, Callable[..., Any] | None] = {}
    for packet in _packets():
        if not _is_gradient(packet):
            found[packet.default] = None
            if "vec" in packet.overloads():
                found[packet.vec] = partial(interpolated, packet.default)
    return found


@contextmanager
def whole_operators() -> Iterator[None]:
    """Context manager that removes torch's Python decompositions for these operators."""
    before = {op: dict(op.py_kernels) for op in _kernels()}
    for op, kernel in _kernels().items():
        for key in KEYS:
            op.py_kernels.pop(key, None)
            if kernel is not None:
                op.py_kernels[key] = kernel
        op._dispatch_cache.clear()
    known = {op: op_implementations_dict.get(op) for op in _shapes()}
    op_implementations_dict.update(_shapes())
    try:
        yield
    finally:
        for op, shape in known.items():
            if shape is None:
                del op_implementations_dict[op]
            else:
                op_implementations_dict[op] = shape
        for op, kernels in before.items():
            op.py_kernels.clear()
            op.py_kernels.update(kernels)
            op._dispatch_cache.clear()

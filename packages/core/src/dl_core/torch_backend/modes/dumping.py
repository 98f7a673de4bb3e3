"""Log of operator calls on stderr, with the fields of ``DIPU_DUMP_OP_ARGS`` in their order.

Level 1 is one line for each call: what implements it (``native``: the vendor; ``composed`` and
``torch``: dl-core or torch, with other operators; ``fallback``: the CPU), the overload, and the
contract operators that it may call. Level 2 adds a line for each argument before the call, and
after it for each result that is not an argument. Level 3 adds the values.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch

from diopi_proto.text import write_error
from diopi_proto.tolerance.torch_operators.schema import signature
from dl_core import _C
from dl_core.torch_backend.modes import forcing
from dl_core.torch_backend.modes.descriptions import where
from dl_core.torch_backend.modes.layers import Layers
from dl_core.torch_backend.modes.overloads import overload_of
from dl_core.torch_backend.modes.watching import After, Results, watch, watchable

Choice = tuple[int, frozenset[str]]
"""A level and its overloads."""

LEVELS = (0, 1, 2, 3)


class _Dump:
    def __init__(self) -> None:
        self.levels: dict[str, int] = {}

    def before(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> After | None:
        level = self.levels.get(name, 0)
        if level == 0:
            return None
        device = where(*args, *kwargs.values())
        lines = [_headline(name, device if device >= 0 else _C.current_device())]
        if level == 1:
            _write(lines)
            return None
        facts = signature(overload_of(name))
        for argument, value in _arguments(name, args, kwargs):
            lines += _format_value(f"{name}: {argument}", value, level)
        _write(lines)

        def after(results: Results) -> None:
            made = [
                _format_value(f"{name}: out{at if len(facts.returned) > 1 else ''}", value, level)
                for at, (value, own) in enumerate(zip(results or (), facts.returned, strict=False))
                if own is None
            ]
            _write([line for lines in made for line in lines])

        return after


_dump = _Dump()


def _apply(choices: list[Choice]) -> None:
    levels: dict[str, int] = {}
    for level, names in choices:
        levels.update(dict.fromkeys(names, level))
    _dump.levels = {name: level for name, level in levels.items() if level}
    watch(_dump, frozenset(_dump.levels))


_choices: Layers[Choice] = Layers((0, frozenset()), _apply)


def _choice(api: str, level: int, patterns: Sequence[str] | str) -> Choice:
    if level not in LEVELS or isinstance(level, bool):
        raise ValueError(f"[torch.dl.{api}] unknown level {level!r}; expected 0, 1, 2 or 3")
    return int(level), watchable(api, patterns)


def set_process(level: int, patterns: Sequence[str] | str) -> list[str]:
    """See :func:`dl_core.torch_backend.modes.set_dump_op_args`."""
    choice = _choice("set_dump_op_args", level, patterns)
    _choices.set(choice)
    return sorted(choice[1])


@contextmanager
def block(level: int, patterns: Sequence[str] | str) -> Iterator[list[str]]:
    """See :func:`dl_core.torch_backend.modes.dump_op_args`."""
    choice = _choice("dump_op_args", level, patterns)
    with _choices.block(choice):
        yield sorted(choice[1])


def _write(lines: list[str]) -> None:
    # One call of write(), so that lines of two threads do not mix.
    if lines and sys.stderr is not None:
        write_error("\n".join(lines) + "\n")
        sys.stderr.flush()


@functools.cache
def _composed() -> frozenset[str]:
    return frozenset(_C.composed_operators())


@functools.cache
def _is_composite(name: str) -> bool:
    """Return True if torch composes the operator from others on every device."""
    keys = ("CompositeExplicitAutograd", "CompositeExplicitAutogradNonFunctional")
    has = torch._C._dispatch_has_kernel_for_dispatch_key
    return any(has(f"aten::{name}", key) for key in keys)


@functools.cache
def _native(device: int) -> dict[str, list[str]]:
    return _C.contract_operators(device)


def _headline(name: str, device: int) -> str:
    if name in forcing.forced:
        return f"[fallback dl:{device}]:{name}"
    served = _native(device).get(name)
    if served:
        return f"[native dl:{device}]:{name}  {', '.join(served)}"
    if name in _composed():
        return f"[composed dl:{device}]:{name}"
    return f"[{'torch' if _is_composite(name) else 'fallback'} dl:{device}]:{name}"


def _arguments(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[tuple[str, Any]]:
    schema = overload_of(name)._schema.arguments
    given = {**dict(zip((x.name for x in schema), args, strict=False)), **kwargs}
    return [(x.name, given.get(x.name, x.default_value)) for x in schema]


def _format_value(label: str, value: Any, level: int) -> list[str]:
    if isinstance(value, torch.Tensor):
        return [f"\t{label}:{_tensor(value)}", *(_values(value) if level == 3 else ())]
    if isinstance(value, (list, tuple)) and any(isinstance(x, torch.Tensor) for x in value):
        parts = [_format_value(f"{label}[{at}]", part, level) for at, part in enumerate(value)]
        return [line for lines in parts for line in lines]
    return [f"\t{label}:{value}"]


def _tensor(tensor: torch.Tensor) -> str:
    dtype = str(tensor.dtype).removeprefix("torch.")
    layout = str(tensor.layout).removeprefix("torch.")
    strided = tensor.layout == torch.strided
    return (
        f"numel:{tensor.numel()}, sizes:{list(tensor.shape)}, "
        f"stride:{list(tensor.stride()) if strided else None}, is_view:{int(tensor._is_view())}, "
        f"TensorOptions(dtype={dtype}, device={tensor.device}, layout={layout}, "
        f"requires_grad={str(tensor.requires_grad).lower()}), "
        f"data_ptr:{hex(tensor.data_ptr()) if strided else None}"
    )


def _values(tensor: torch.Tensor) -> list[str]:
    try:
        return str(tensor.detach().cpu()).splitlines()
    except Exception as error:  # noqa: BLE001 - an observer must not stop the program
        return [f"(its values cannot be shown: {type(error).__name__}: {error})"]

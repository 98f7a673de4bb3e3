"""Serializable calls of operators, which another process can repeat."""

from __future__ import annotations

import contextlib
import json
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.overrides import get_overridable_functions

from ..errors import ArgumentsError

_NOT_PLAIN = "not_plain"


@dataclass(frozen=True)
class Call:
    """An operator and its arguments; tensors by shape, strides and dtype, without their elements.

    :ivar operator: ``"aten::mm"``, an overload such as ``"aten::sum.dim_IntList"``, or the name
        of a function of torch or ``torch.nn.functional``.
    :ivar arguments: JSON values; a tensor is ``{"shape": [], "strides": [], "dtype": "float32"}``.
    :ivar threads: number of torch threads, if it must be the same: torchrun gives each rank one.
    """

    operator: str
    arguments: tuple[Any, ...]
    keywords: dict[str, Any]
    threads: int | None = None

    def __str__(self) -> str:
        values = [_format(value) for value in self.arguments]
        values += [f"{name}={_format(value)}" for name, value in self.keywords.items()]
        call = f"{self.operator.removeprefix('aten::')}({', '.join(values)})"
        if self.threads is None:
            return call
        return f"{call} on {self.threads} thread{'s' if self.threads > 1 else ''}"

    def as_json(self) -> dict[str, Any]:
        """Return the call as JSON."""
        threads = {} if self.threads is None else {"threads": self.threads}
        return {
            "operator": self.operator,
            "arguments": list(self.arguments),
            "keywords": self.keywords,
            **threads,
        }

    @classmethod
    def of_json(cls, value: dict[str, Any]) -> Call:
        """Create a call from the JSON of :meth:`as_json`."""
        arguments, keywords = tuple(value["arguments"]), dict(value["keywords"])
        return cls(value["operator"], arguments, keywords, value.get("threads"))

    def signature(self) -> str:
        """Return a string that is equal for equal calls."""
        return json.dumps(self.as_json(), sort_keys=True)


def described(operator: str, args: Sequence[Any], kwargs: dict[str, Any]) -> Call | None:
    """Describe a call, or return None if an argument is neither a tensor nor a plain value."""
    arguments = [_described(value) for value in args]
    keywords = {name: _described(value) for name, value in kwargs.items()}
    if _NOT_PLAIN in (*arguments, *keywords.values()):
        return None
    return Call(operator, tuple(arguments), keywords, torch.get_num_threads())


def _described(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        floating = value.dtype.is_floating_point and value.layout is torch.strided
        if not floating or value.device.type != "dl":
            return _NOT_PLAIN
        return {
            "shape": list(value.shape),
            "strides": list(value.stride()),
            "dtype": str(value.dtype).removeprefix("torch."),
        }
    if isinstance(value, (list, tuple)):
        inner = [_described(each) for each in value]
        return _NOT_PLAIN if _NOT_PLAIN in inner else inner
    return value if value is None or isinstance(value, (bool, int, float)) else _NOT_PLAIN


def function_of(operator: str) -> Callable[..., Any]:
    """Return the function of an operator's name.

    :raises TuningError: torch has no operator or function of tensors with this name.
    """
    found: Any = None
    if operator.startswith("aten::"):
        name, _, overload = operator.removeprefix("aten::").partition(".")
        packet = getattr(torch.ops.aten, name, None)
        found = getattr(packet, overload, None) if overload else packet
    else:
        places = (torch, torch.nn.functional, torch.ops.aten)
        there = (getattr(place, operator, None) for place in places)
        found = next((each for each in there if _takes_tensors(each)), None)
    if not _takes_tensors(found):
        raise ArgumentsError(
            f"[tune] torch has no operator {operator!r} of tensors; give one like mm, conv2d or"
            " aten::addmm"
        )
    function: Callable[..., Any] = found
    return function


def _takes_tensors(found: Any) -> bool:
    """Return True for an operator of torch, or a function that calls operators."""
    if isinstance(found, torch._ops.OpOverloadPacket):
        return any(_takes_tensors(getattr(found, name)) for name in found.overloads())
    if isinstance(found, torch._ops.OpOverload):
        given = [each for each in found._schema.arguments if not each.kwarg_only]
        return any("Tensor" in str(each.type) for each in given)
    # Functions that torch lists as overridable, which excludes functions that read files or
    # settings.
    return callable(found) and any(
        found is function
        for place in (torch, torch.functional, torch.nn.functional)
        for function in get_overridable_functions().get(place, ())
    )


def check_dtype(name: str) -> None:
    """Check that tensors of a dtype can be created from numbers.

    :raises ArgumentsError: they cannot be created, or torch has no such dtype.
    """
    found = {str(each).removeprefix("torch.") for each in _dtypes()}
    if name not in found:
        raise ArgumentsError(
            f"[tune] --dtype {name!r} is not a dtype in which torch creates tensors from numbers;"
            " available:"
            f" {', '.join(sorted(found))}"
        )


def _dtypes() -> list[torch.dtype]:
    every = {each for each in vars(torch).values() if isinstance(each, torch.dtype)}
    numbers = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for each in every:
            with contextlib.suppress(RuntimeError, TypeError):
                torch.zeros(1).to(each)
                numbers.append(each)
    return numbers


def build_arguments(call: Call, *, seed: int) -> tuple[list[Any], dict[str, Any]]:
    """Return arguments on the device: seeded normal numbers in the layouts that were described."""
    generator = torch.Generator().manual_seed(seed)

    def make(value: Any) -> Any:
        if isinstance(value, dict):
            shape, strides = value["shape"], value.get("strides")
            dtype = getattr(torch, value["dtype"])
            dense = torch.randn(shape, generator=generator).to(dtype).to("dl")
            if strides is None or list(dense.stride()) == strides:
                return dense
            placed = torch.empty_strided(shape, strides, dtype=dtype, device="dl")
            # An expanded dimension has one element for many.
            target = placed
            for d, (size, stride) in enumerate(zip(shape, strides, strict=True)):
                if stride == 0 and size > 1:
                    target, dense = target.narrow(d, 0, 1), dense.narrow(d, 0, 1)
            target.copy_(dense)
            return placed
        if isinstance(value, list):
            return [make(each) for each in value]
        return value

    keywords = {name: make(value) for name, value in call.keywords.items()}
    return [make(value) for value in call.arguments], keywords


def _format(value: Any) -> str:
    if isinstance(value, dict):
        return f"{value['dtype']}[{'x'.join(map(str, value['shape']))}]"
    return str(value)

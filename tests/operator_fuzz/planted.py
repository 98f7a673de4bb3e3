"""Operators with one fault each on the device under test, which the fuzzer must find."""

from __future__ import annotations

import faulthandler
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch

from dl_torch_tests.opinfo.sweep import tensors_of

from .targets import Target, targets

PREFIX = "planted."
Plant = Callable[[Callable[[], torch.Tensor], torch.Tensor], torch.Tensor]
"""Function of the right call and its first tensor."""


def _one_element(call: Callable[[], torch.Tensor], _: torch.Tensor) -> torch.Tensor:
    result = call()
    if result.numel() and not result._is_view() and result.is_contiguous():
        result.view(-1)[-1:].mul_(1.01 if result.is_floating_point() else 3)
    return result


def _dtype(call: Callable[[], torch.Tensor], _: torch.Tensor) -> torch.Tensor:
    return call().double()


def _strides(call: Callable[[], torch.Tensor], _: torch.Tensor) -> torch.Tensor:
    result = call()
    order = tuple(reversed(range(result.dim())))
    return result.permute(order).contiguous().permute(order)


def _missing_error(call: Callable[[], torch.Tensor], first: torch.Tensor) -> torch.Tensor:
    try:
        return call()
    except Exception:  # noqa: BLE001 - the fault that is planted
        return first


def _spurious_error(call: Callable[[], torch.Tensor], first: torch.Tensor) -> torch.Tensor:
    if first.dim() == 0:
        raise RuntimeError("tensors without dimensions are unsupported")
    return call()


def _error_class(call: Callable[[], torch.Tensor], _: torch.Tensor) -> torch.Tensor:
    try:
        return call()
    except Exception as error:
        raise KeyError(str(error)) from error


def _nan_swallowed(call: Callable[[], torch.Tensor], _: torch.Tensor) -> torch.Tensor:
    return call().nan_to_num(0.0, torch.inf, -torch.inf)


def _saturated(call: Callable[[], torch.Tensor], _: torch.Tensor) -> torch.Tensor:
    result = call()
    return result.nan_to_num(torch.nan) if result.is_floating_point() else result


def _argument_written(call: Callable[[], torch.Tensor], first: torch.Tensor) -> torch.Tensor:
    result = call()
    first.flatten()[:1].zero_()
    return result


def _aliased(_: Callable[[], torch.Tensor], first: torch.Tensor) -> torch.Tensor:
    return first.add_(1).view(first.shape)


def _crash(call: Callable[[], torch.Tensor], first: torch.Tensor) -> torch.Tensor:
    if first.numel() == 0:
        faulthandler._sigsegv()  # type: ignore[attr-defined]
    return call()


PLANTS: dict[str, tuple[Plant, str]] = {
    "right": (lambda call, _: call(), ""),
    "one element": (_one_element, "values"),
    "dtype": (_dtype, "dtype"),
    "strides": (_strides, "strides"),
    "missing error": (_missing_error, "accepts"),
    "spurious error": (_spurious_error, "raises"),
    "error class": (_error_class, "error class"),
    "nan swallowed": (_nan_swallowed, "values"),
    "infinity saturated": (_saturated, "values"),
    "argument written": (_argument_written, "values"),
    "aliased": (_aliased, "aliasing"),
    "crash": (_crash, "crash"),
}
"""Each fault, with the expected kind of difference."""


def planted(name: str) -> Target:
    """Return the operator with the fault of this name."""
    plant, _ = PLANTS[name]
    right = targets()["add"]

    def operator(*args: Any, **kwargs: Any) -> Any:
        tensors = tensors_of((args, kwargs))

        def call() -> Any:
            return torch.add(*args, **kwargs)

        if not tensors or tensors[0].device.type in ("cpu", "meta"):
            return call()
        return plant(call, tensors[0])

    return replace(right, name=PREFIX + name, forms={"function": operator})

"""The two places where torch 2.13 has to be patched. Nothing else of torch is.

Each patch does something only for dl tensors and calls what it replaces for all others.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any

import torch
from torch.overrides import has_torch_function_unary

from dl_core.torch_backend import DEVICE

_Convert = Callable[[torch.Tensor], torch.Tensor]
_MARK = "_dl_patch"
# Where a parameter keeps what `register_hook` and `register_post_accumulate_grad_hook` were given.
_HOOKS = ("_backward_hooks", "_post_accumulate_grad_hooks")


def apply() -> None:
    """Install the patches. A second call does nothing."""
    _replace(torch.Tensor, "__dlpack_device__", _dlpack_device)
    _replace(torch.nn.Module, "_apply", _module_apply)


def _replace(owner: type, name: str, wrap: Callable[[Any], Any]) -> None:
    original = getattr(owner, name)
    if hasattr(original, _MARK):
        return
    patched = functools.wraps(original)(wrap(original))
    setattr(patched, _MARK, True)
    setattr(owner, name, patched)


def _dlpack_device(original: Callable[[torch.Tensor], Any]) -> Callable[[torch.Tensor], Any]:
    """``Tensor.__dlpack_device__`` knows outside devices by a name none of them has.

    https://github.com/pytorch/pytorch/pull/195815. Without it ``from_dlpack(tensor)`` raises
    ValueError although the C++ half of the exchange works.
    """

    def dlpack_device(self: torch.Tensor) -> Any:
        if has_torch_function_unary(self) or self.device.type != DEVICE:
            return original(self)
        from torch.utils.dlpack import DLDeviceType

        return DLDeviceType.kDLExtDev, self.device.index

    return dlpack_device


def _module_apply(original: Callable[..., Any]) -> Callable[..., Any]:
    """``Module.to("dl")`` makes new parameters, so optimizers and tied weights keep the old ones.

    https://github.com/pytorch/pytorch/issues/116255 and .../196975: torch does not count outside
    devices among those whose tensors may change place in ``param.data = …``. ``torch.__future__``
    has a second way that keeps parameters, swapping; it is switched on here, only for parameters
    that move to or from dl.
    """

    def module_apply(self: torch.nn.Module, fn: _Convert, recurse: bool = True) -> torch.nn.Module:
        if recurse:
            for child in self.children():
                child._apply(fn)
        first = next((p for p in self._parameters.values() if p is not None), None)
        if first is None:
            original(self, fn, recurse=False)
            return self
        with torch.no_grad():
            moved = fn(first)
        conversion = _Conversion(fn, first, moved)
        if torch.__future__.get_swap_module_params_on_conversion() or not _crosses(self, moved):
            original(self, conversion, recurse=False)
        else:
            _swap(original, self, conversion)
        return self

    return module_apply


class _Conversion:
    """``fn``, called once for each tensor although one is converted ahead and some again."""

    def __init__(self, fn: _Convert, first: torch.Tensor, result: torch.Tensor) -> None:
        self._fn = fn
        self._ahead: tuple[torch.Tensor, torch.Tensor] | None = (first, result)
        self._last: tuple[torch.Tensor, torch.Tensor] | None = None
        self._done: dict[int, torch.Tensor] = {}
        self._again = False

    def __call__(self, tensor: torch.Tensor) -> torch.Tensor:
        if self._again:
            if self._last is not None and tensor is self._last[0]:
                return self._last[1]
            if id(tensor) in self._done:
                return tensor
        if self._ahead is not None and tensor is self._ahead[0]:
            result, self._ahead = self._ahead[1], None
        else:
            result = self._fn(tensor)
        if self._last is not None:
            self._done[id(self._last[0])] = self._last[0]
        self._last = (tensor, result)
        return result

    def repeat(self) -> None:
        """The calls so far come again: the last one stopped, those before it were carried out."""
        self._again = True


def _crosses(module: torch.nn.Module, moved: torch.Tensor) -> bool:
    """Whether a parameter of ``module`` goes to or comes from dl. All go where the first went."""
    to_dl = moved.device.type == DEVICE
    return any(
        p is not None and (p.device.type == DEVICE) != to_dl for p in module._parameters.values()
    )


def _swap(original: Callable[..., Any], module: torch.nn.Module, conversion: _Conversion) -> None:
    parameters = [p for p in module._parameters.values() if p is not None]
    gradients = [(p, p.grad) for p in parameters]
    hooks = [(p, name, getattr(p, name)) for p in parameters for name in _HOOKS]
    # The flag is torch's own and belongs to the whole process: on only while this one module moves.
    torch.__future__.set_swap_module_params_on_conversion(True)
    try:
        original(module, conversion, recurse=False)
        # They belong to what was swapped away; the handles that remove them know the same objects.
        for parameter, name, registered in hooks:
            if registered:
                setattr(parameter, name, registered)
        return
    except RuntimeError as error:
        if "Couldn't swap" not in str(error):
            raise
        reason = error.__cause__ or error
    finally:
        torch.__future__.set_swap_module_params_on_conversion(False)
    conversion.repeat()
    for parameter, gradient in gradients:
        # torch takes a gradient off before it swaps, and does not put it back if that fails.
        if gradient is not None and parameter.grad is None:
            with torch.no_grad():
                parameter.grad = conversion(gradient)
    warnings.warn(
        f"[Module.to] a parameter of {type(module).__name__} cannot move in place: {reason} It is "
        f"replaced instead, so optimizers made before and tied weights keep the old one. Make the "
        f"optimizer after the move.",
        UserWarning,
        stacklevel=4,
    )
    original(module, conversion, recurse=False)

"""Patches of torch 2.13. No other module patches torch.

A patch affects dl tensors only, and calls the original function for all others.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable
from typing import Any

import torch
from torch.overrides import has_torch_function_unary

from dl_core import _C, when_imported
from dl_core.torch_backend import DEVICE, default_compiler

_MARK = "_dl_patch"
_FLEX_ATTENTION = "torch.nn.attention.flex_attention"


def apply() -> None:
    """Install the patches. A second call does nothing."""
    _replace(torch.Tensor, "__dlpack_device__", _dlpack_device)
    _replace(torch.UntypedStorage, "is_shared", _is_shared)
    compiler = torch._TorchCompileInductorWrapper
    _replace(compiler, "__call__", default_compiler.call)
    _replace(compiler, "apply_options", default_compiler.apply_options)
    _replace(compiler, "__eq__", default_compiler.equal)
    # torch imports this module on first use.
    when_imported.watch({}, after={_FLEX_ATTENTION: [_apply_flex_attention]})


def apply_distributed() -> None:
    """Install the patches of ``torch.distributed``; called when a dicl group is created."""
    from torch.distributed import ProcessGroup
    from torch.nn.parallel import DistributedDataParallel

    _replace(DistributedDataParallel, "_check_comm_hook", _check_comm_hook)
    _replace(ProcessGroup, "_has_hooks", _has_hooks)
    _replace(ProcessGroup, "_register_backend", _register_backend)


def _apply_flex_attention() -> None:
    _replace(sys.modules[_FLEX_ATTENTION], "_validate_device", _validate_device)


def _replace(owner: Any, name: str, wrap: Callable[[Any], Any]) -> None:
    original = getattr(owner, name)
    if hasattr(original, _MARK):
        return
    patched = functools.wraps(original)(wrap(original))
    setattr(patched, _MARK, True)
    setattr(owner, name, patched)


def _dlpack_device(original: Callable[[torch.Tensor], Any]) -> Callable[[torch.Tensor], Any]:
    """Fix ``Tensor.__dlpack_device__``, which looks for out-of-tree devices under a wrong name.

    https://github.com/pytorch/pytorch/pull/195815. Without it ``from_dlpack(tensor)`` raises
    ValueError although the C++ part of the exchange works.
    """

    def dlpack_device(self: torch.Tensor) -> Any:
        if has_torch_function_unary(self) or self.device.type != DEVICE:
            return original(self)
        from torch.utils.dlpack import DLDeviceType

        return DLDeviceType.kDLExtDev, self.device.index

    return dlpack_device


def _is_shared(original: Callable[..., bool]) -> Callable[..., bool]:
    """Fix ``is_shared``, which returns False for out-of-tree devices.

    As for CUDA, return True if a process that receives the storage shares its memory.
    """

    def is_shared(self: torch.UntypedStorage) -> bool:
        if self.device.type != DEVICE:
            return original(self)
        return _C.can_lend(self.device.index)

    return is_shared


def _validate_device(original: Callable[..., None]) -> Callable[..., None]:
    """Let ``flex_attention`` accept dl tensors; torch compares the device type with a fixed list.

    Its eager form uses operators of the device only, and has gradients.
    """

    def validate_device(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> None:
        if query.device.type != DEVICE:
            original(query, key, value)

    return validate_device


def _check_comm_hook(original: Callable[..., None]) -> Callable[..., None]:
    """Allow DDP communication hooks with bfloat16, which torch allows with NCCL and XCCL only.

    dicl supports sums of bfloat16; torch's check of the hook's signature still runs.
    """

    def check_comm_hook(self: Any, hook: Any) -> None:
        if self.device_type != DEVICE or "bf16" not in getattr(hook, "__name__", ""):
            return original(self, hook)

        def other_name(state: Any, bucket: Any) -> Any: ...

        other_name.__signature__ = inspect.signature(hook)  # type: ignore[attr-defined]
        return original(self, other_name)

    return check_comm_hook


def _register_backend(original: Callable[..., None]) -> Callable[..., None]:
    """Make the accelerator's backend the default if none is named; torch uses gloo.

    ``DistributedDataParallel`` asks the default backend for its name; torch's default, gloo, would
    not match.
    """

    def register_backend(self: Any, device: Any, kind: Any, backend: Any = None) -> None:
        original(self, device, kind, backend)
        if backend is not None and backend.name() == "dicl":
            self._set_default_backend(kind)

    return register_backend


def _has_hooks(original: Callable[..., bool]) -> Callable[..., bool]:
    """Report no hooks. torch looks them up in a default backend, which an out-of-tree backend
    cannot be.

    Otherwise each group would issue a warning when it is destroyed.
    """

    def has_hooks(self: Any) -> bool:
        if torch.device(DEVICE) in self._device_types:
            backend = self._get_backend(torch.device(DEVICE))
            if backend.name() == "dicl":
                return False
        return original(self)

    return has_hooks

"""Profilers for programs written for CUDA."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch

from dl_core.torch_backend import DEVICE
from dl_core.torch_backend.mock_cuda.names import to_dl
from dl_core.torch_backend.mock_cuda.replacing import translate_calls


def activities_to_dl(value: Any) -> Any:
    """Translate the activities of a profiler, such as ``ProfilerActivity.CUDA``."""
    if isinstance(value, (list, tuple, set)):
        return [_activity_to_dl(each) for each in value]
    return to_dl(value)


def _activity_to_dl(value: Any) -> Any:
    activity = torch.profiler.ProfilerActivity
    if isinstance(value, dict):
        return {_activity_to_dl(key): filters for key, filters in value.items()}
    return activity.PrivateUse1 if value == activity.CUDA else value


def _translated_init(original: Callable[..., Any]) -> Callable[..., Any]:
    """Translate ``use_cuda=True`` of ``torch.autograd.profiler.profile`` to dl."""
    begin = translate_calls(original, to_dl, 1)

    @functools.wraps(original)
    def init(self: Any, enabled: bool = True, *, use_cuda: bool = False, **kwargs: Any) -> None:
        if use_cuda:
            kwargs["use_device"] = DEVICE
        begin(self, enabled, **kwargs)

    return init


init_profile = _translated_init(torch.autograd.profiler.profile.__init__)


def enter_nvtx(self: Any) -> Any:
    """Enter ``torch.autograd.profiler.emit_nvtx``, which marks no ranges here.

    :raises RuntimeError: the context is already active.
    """
    if not self.enabled:
        return None
    if self.entered:
        raise RuntimeError("NVTX annotation context manager is not reentrant")
    self.entered = True
    return self


def exit_nvtx(self: Any, *_: Any) -> bool:
    """Leave ``torch.autograd.profiler.emit_nvtx``."""
    return False

"""Mixed precision for dl: the names of ``torch.cuda.amp``, as ``torch.amp`` with ``"dl"``."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch

from dl_core.torch_backend import DEVICE

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd"]


class autocast(torch.amp.autocast_mode.autocast):  # noqa: N801 - as in torch.amp
    """``torch.autocast("dl")``.

    :param dtype: None means bfloat16, or the dtype of ``torch.set_autocast_dtype("dl", ...)``.
    """

    def __init__(
        self,
        enabled: bool = True,
        dtype: torch.dtype | None = None,
        cache_enabled: bool | None = True,
    ) -> None:
        super().__init__(DEVICE, dtype=dtype, enabled=enabled, cache_enabled=cache_enabled)


class GradScaler(torch.amp.GradScaler):
    """``torch.amp.GradScaler("dl")``: scales losses to avoid underflow of float16 gradients."""

    def __init__(
        self,
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        super().__init__(
            DEVICE,
            init_scale=init_scale,
            growth_factor=growth_factor,
            backoff_factor=backoff_factor,
            growth_interval=growth_interval,
            enabled=enabled,
        )


def custom_fwd(
    fwd: Callable[..., Any] | None = None, *, cast_inputs: torch.dtype | None = None
) -> Callable[..., Any]:
    """``torch.amp.custom_fwd`` for dl: decorates ``forward`` of an autograd function."""
    decorator: Callable[..., Any] = functools.partial(
        torch.amp.custom_fwd, device_type=DEVICE, cast_inputs=cast_inputs
    )
    decorated: Callable[..., Any] = decorator if fwd is None else decorator(fwd)
    return decorated


def custom_bwd(bwd: Callable[..., Any]) -> Callable[..., Any]:
    """``torch.amp.custom_bwd`` for dl: decorates ``backward`` of an autograd function."""
    decorated: Callable[..., Any] = torch.amp.custom_bwd(bwd, device_type=DEVICE)
    return decorated

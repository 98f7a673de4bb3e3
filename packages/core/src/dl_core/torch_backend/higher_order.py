"""Autocast of higher-order operators (``flex_attention``, ``torch.cond``, ...) on dl.

torch lets higher-order operators ignore autocast, except ``flex_attention``, which casts its
arguments, but lists its own device types only. On dl they fail within ``torch.autocast``.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch._C import DispatchKey
from torch._higher_order_ops.flex_attention import flex_attention
from torch.amp.autocast_mode import _cast

from dl_core.torch_backend import DEVICE

_AUTOCAST: DispatchKey = DispatchKey.AutocastPrivateUse1  # type: ignore[attr-defined]


def register() -> None:
    """Register the rules with torch; operators that are created later follow them, too."""
    later = torch._ops._HIGHER_ORDER_OP_DEFAULT_FALLTHROUGH_DISPATCH_KEYS
    if _AUTOCAST in later:
        return
    later.append(_AUTOCAST)
    for operator in torch._ops._higher_order_ops.values():
        operator.fallthrough(_AUTOCAST)
    flex_attention.py_impl(_AUTOCAST)(_cast_attention)


def _cast_attention(query: Tensor, key: Tensor, value: Tensor, *others: Any) -> Any:
    """Call ``flex_attention`` in the dtype of autocast."""
    dtype = torch.get_autocast_dtype(DEVICE)
    given = (_cast(each, DEVICE, dtype) for each in (query, key, value))
    with torch._C._ExcludeDispatchKeyGuard(torch._C.DispatchKeySet(_AUTOCAST)):
        return flex_attention(*given, *others)

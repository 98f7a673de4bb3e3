"""dl for accelerate, which takes its device from ``ACCELERATE_TORCH_DEVICE``.

This wheel and ``dl run`` set that variable. This module has functions for everything else.
"""

from __future__ import annotations

from typing import Any

import torch

from dl_integrations.device import dl
from dl_integrations.random_state import RandomState

__all__ = ["RandomState", "max_memory", "use_float16"]


def max_memory(share: float = 0.9) -> dict[int | str, int]:
    """Return the memory in bytes that a model may use on each dl device and on the CPU, for
    ``device_map="auto"``.

    >>> AutoModel.from_pretrained(  # doctest: +SKIP
    ...     name, device_map="auto", max_memory=max_memory()
    ... )

    :param share: share of the free memory of a device, 0 to 1; the rest is for activations.
    :raises ValueError: ``share`` is out of range.
    """
    if not 0 < share <= 1:
        raise ValueError(f"[dl_integrations.max_memory] share={share} is not above 0 and at most 1")
    from accelerate.utils import get_max_memory

    found: dict[int | str, int] = {
        index: int(dl().mem_get_info(index)[0] * share) for index in range(dl().device_count())
    }
    found["cpu"] = get_max_memory()["cpu"]
    return found


def use_float16(accelerator: Any, **scaler: Any) -> None:
    """Enable float16 as ``Accelerator(mixed_precision="fp16")`` does on the devices of its list.

    For other devices accelerate raises an error. Call this function before ``prepare``.

    :param scaler: arguments of ``torch.amp.GradScaler``, such as ``init_scale``.
    :raises ValueError: the accelerator is not on dl, or already has another precision.
    """
    state = accelerator.state
    if accelerator.device.type != "dl" or state.mixed_precision != "no":
        raise ValueError(
            f"[dl_integrations.use_float16] expected an Accelerator on dl without mixed precision, "
            f"got one on {accelerator.device} with {state.mixed_precision!r}"
        )
    state._mixed_precision = "fp16"
    accelerator.native_amp = True
    accelerator.scaler = torch.amp.GradScaler("dl", **scaler)

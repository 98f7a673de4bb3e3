"""``accelerate launch``, ``torchrun`` and ``cpu=True``: the devices of one or several processes."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from dl_integrations.device import dl
from dl_integrations.wrappers.wrapper import Wrapper

BACKEND = "dicl"
"""Backend of torch.distributed for dl devices."""


def _wrap(original: Callable[..., Any]) -> Callable[..., Any]:
    def _prepare_backend(
        self: Any, cpu: bool = False, sagemaker_dp: bool = False, backend: str | None = None
    ) -> Any:
        from accelerate.state import DistributedType

        if cpu and self.device is not None and self.device.type == "dl":
            import torch

            # The variable with the device, which this wheel sets, precedes the argument upstream.
            self.device = torch.device("cpu")
        found = original(self, cpu, sagemaker_dp, backend)
        rank = int(os.environ.get("LOCAL_RANK", -1))
        if found[1] != DistributedType.NO or rank < 0 or cpu or self.device is None:
            return found
        if self.device.type == "dl" and self.device.index is None:
            import torch

            self.device = torch.device("dl", rank % dl().device_count())
            dl().set_device(self.device)
        # accelerate has no name for devices that are not on its list.
        return backend or BACKEND, DistributedType.MULTI_GPU

    return _prepare_backend


WRAPPERS = [
    Wrapper(
        "accelerate.state",
        "PartialState._prepare_backend",
        ("1.15.0",),
        "a00b182a00eefb57",
        "accelerate launch --num_processes 2, torchrun, Accelerator(cpu=True)",
        _wrap,
    )
]

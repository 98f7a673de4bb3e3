"""``Accelerator(mixed_precision="fp16")``: the list of devices with a gradient scaler."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dl_integrations.device import DEVICE
from dl_integrations.wrappers.wrapper import Wrapper


def _wrap(original: Callable[..., None]) -> Callable[..., None]:
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
        from accelerate.state import AcceleratorState, DistributedType

        try:
            original(self, *args, **kwargs)
            return
        except ValueError:
            # The state is complete when accelerate rejects the device.
            state = AcceleratorState._shared_state
            device, precision = state.get("device"), state.get("_mixed_precision")
            if getattr(device, "type", "") != DEVICE or precision != "fp16":
                raise
            if state.get("distributed_type") == DistributedType.FSDP:
                raise
        from dl_integrations.accelerate import use_float16

        state["_mixed_precision"] = "no"
        original(self, *args, **{**kwargs, "mixed_precision": "no"})
        handler = self.scaler_handler
        use_float16(self, **(handler.to_kwargs() if handler else {}))

    return __init__


WRAPPERS = [
    Wrapper(
        "accelerate.accelerator",
        "Accelerator.__init__",
        ("1.15.0",),
        "4fbd11d3996c8b08",
        'Accelerator(mixed_precision="fp16"), TrainingArguments(fp16=True)',
        _wrap,
        after="accelerate.launchers",
    )
]

"""``TrainingArguments(bf16=True)``: the list of devices that compute in bfloat16."""

from __future__ import annotations

from collections.abc import Callable

from dl_integrations.device import dl
from dl_integrations.wrappers.wrapper import Wrapper


def _wrap(original: Callable[[], bool]) -> Callable[[], bool]:
    def is_torch_bf16_gpu_available() -> bool:
        return original() or bool(dl().is_bf16_supported())

    return is_torch_bf16_gpu_available


WRAPPERS = [
    Wrapper(
        "transformers.utils.import_utils",
        "is_torch_bf16_gpu_available",
        ("5.20.2",),
        "089c5f2d548d4c44",
        "TrainingArguments(bf16=True)",
        _wrap,
    )
]

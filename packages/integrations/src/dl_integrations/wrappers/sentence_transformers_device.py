"""``SentenceTransformer(name)``: the list of devices from which its default is chosen."""

from __future__ import annotations

import os
from collections.abc import Callable

from dl_integrations.device import DEVICE, dl
from dl_integrations.wrappers.wrapper import Wrapper


def _wrap(original: Callable[[], str]) -> Callable[[], str]:
    def get_device_name() -> str:
        found = original()
        if found != "cpu":
            return found
        rank = int(os.environ.get("LOCAL_RANK", 0))
        return f"{DEVICE}:{rank % dl().device_count()}"

    return get_device_name


WRAPPERS = [
    Wrapper(
        "sentence_transformers.util.environment",
        "get_device_name",
        ("6.2.0",),
        "d6c8f77e7460fc62",
        "SentenceTransformer(name)",
        _wrap,
    )
]

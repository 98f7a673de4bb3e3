"""``device_map="auto"``: the list of devices whose memory is known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dl_integrations.device import dl
from dl_integrations.wrappers.wrapper import Wrapper

Memory = dict[int | str, int]


def _wrap(original: Callable[..., Memory]) -> Callable[..., Memory]:
    def get_max_memory(max_memory: Any = None) -> Memory:
        found = original(max_memory)
        if max_memory is None and not any(isinstance(key, int) for key in found):
            devices = range(dl().device_count())
            # Devices come first, because the order is the order of allocation.
            return {**{index: dl().mem_get_info(index)[0] for index in devices}, **found}
        return found

    return get_max_memory


WRAPPERS = [
    Wrapper(
        "accelerate.utils.modeling",
        "get_max_memory",
        ("1.15.0",),
        "462ea87acc4e9300",
        'from_pretrained(device_map="auto")',
        _wrap,
    )
]

"""Statistics of the allocator: current, peak and total bytes."""

from __future__ import annotations

from typing import Any

import torch

from dl_core.torch_backend._utils import DeviceLike, existing_index

_SUMMARY_ROWS = (
    ("allocated", "allocated_bytes.all"),
    ("reserved", "reserved_bytes.all"),
    ("active", "active_bytes.all"),
    ("inactive, split", "inactive_split_bytes.all"),
    ("requested", "requested_bytes.all"),
)
_SUMMARY_COLUMNS = ("current", "peak", "allocated", "freed")
_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


def empty_cache() -> None:
    """Return unused cached memory to the vendor, on every device."""
    torch.accelerator.empty_cache()


def memory_stats(device: DeviceLike = None) -> dict[str, Any]:
    """Return all counters of the device's allocator, named as in
    :func:`torch.cuda.memory_stats`."""
    return dict(torch.accelerator.memory_stats(existing_index("memory_stats", device)))


def memory_allocated(device: DeviceLike = None) -> int:
    """Return the number of bytes in tensors."""
    return torch.accelerator.memory_allocated(existing_index("memory_allocated", device))


def max_memory_allocated(device: DeviceLike = None) -> int:
    """Return the peak of bytes in tensors since the start or :func:`reset_peak_memory_stats`."""
    return torch.accelerator.max_memory_allocated(existing_index("max_memory_allocated", device))


def memory_reserved(device: DeviceLike = None) -> int:
    """Return the number of bytes allocated from the vendor, whether in tensors or cached."""
    return torch.accelerator.memory_reserved(existing_index("memory_reserved", device))


def max_memory_reserved(device: DeviceLike = None) -> int:
    """Return the peak of bytes allocated from the vendor since the start or
    :func:`reset_peak_memory_stats`."""
    return torch.accelerator.max_memory_reserved(existing_index("max_memory_reserved", device))


def reset_peak_memory_stats(device: DeviceLike = None) -> None:
    """Reset the peaks to the current values."""
    torch.accelerator.reset_peak_memory_stats(existing_index("reset_peak_memory_stats", device))


def reset_accumulated_memory_stats(device: DeviceLike = None) -> None:
    """Reset the totals of allocated and freed bytes to 0."""
    torch.accelerator.reset_accumulated_memory_stats(
        existing_index("reset_accumulated_memory_stats", device)
    )


def mem_get_info(device: DeviceLike = None) -> tuple[int, int]:
    """Return (free, total) bytes of the device, as reported by its vendor."""
    free, total = torch.accelerator.get_memory_info(existing_index("mem_get_info", device))
    return free, total


def memory_summary(device: DeviceLike = None, abbreviated: bool = False) -> str:
    """Return the counters of :func:`memory_stats` as a table.

    :param abbreviated: leave out the totals of allocated and freed bytes.
    """
    index = existing_index("memory_summary", device)
    stats = memory_stats(index)
    columns = _SUMMARY_COLUMNS[:2] if abbreviated else _SUMMARY_COLUMNS
    lines = [
        f"memory of dl:{index}   out of memory: {stats.get('num_ooms', 0)}   "
        f"retries: {stats.get('num_alloc_retries', 0)}",
        f"{'':16}" + "".join(f"{column:>14}" for column in columns),
    ]
    for title, key in _SUMMARY_ROWS:
        values = [stats.get(f"{key}.{column}", 0) for column in columns]
        lines.append(f"{title:16}" + "".join(f"{_size(value):>14}" for value in values))
    return "\n".join(lines)


def _size(value: int) -> str:
    scaled = float(value)
    for unit in _UNITS[:-1]:
        if scaled < 1024:
            return f"{scaled:.0f} {unit}" if unit == "B" else f"{scaled:.1f} {unit}"
        scaled /= 1024
    return f"{scaled:.1f} {_UNITS[-1]}"

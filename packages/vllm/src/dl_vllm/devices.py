"""Number of devices that an engine needs."""

from __future__ import annotations


def demand_device(worker: int, count: int) -> None:
    """Check that a worker has a device of its own.

    :param worker: number of the worker on this machine.
    :param count: number of visible devices.
    :raises ValueError: it has none.
    """
    if worker >= count:
        raise ValueError(
            f"[dl] worker {worker} needs a device of its own, but {count} "
            f"{'is' if count == 1 else 'are'} visible; decrease `tensor_parallel_size` or "
            "`pipeline_parallel_size`, or make more devices visible"
        )

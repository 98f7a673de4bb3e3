"""Programs for the ranks that end with errors, or that catch errors and return their text."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist

from .data import DEVICE


def _error(call: Callable[..., Any], *arguments: Any, **options: Any) -> str:
    try:
        call(*arguments, **options)
    except (RuntimeError, ValueError, NotImplementedError) as error:
        return str(error)
    raise AssertionError("nothing was refused")


def ones(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.ones(shape, dtype=dtype, device=DEVICE)


def killed() -> None:
    dist.all_reduce(ones(4))
    if dist.get_rank() == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    _all_reduce_until_refused()


def _all_reduce_until_refused() -> None:
    """Repeat until an error: a vendor's communicator reports a lost rank from a host wait on."""
    while True:
        work = dist.all_reduce(ones(4), async_op=True)
        with contextlib.suppress(RuntimeError):
            torch.dl.synchronize()
        work.wait()


def sizes_differ() -> None:
    x = ones(1000 if dist.get_rank() == 1 else 4)
    dist.all_reduce(x)
    x.cpu()


def late() -> list[str]:
    """Return the errors on rank 0 while rank 1 creates both groups, but calls no collective."""
    texts = []
    for call in (dist.all_reduce, lambda x, group: dist.recv(x, 1, group=group)):
        group = dist.new_group(timeout=timedelta(seconds=1))
        if dist.get_rank() == 0:
            texts.append(_error(call, ones(4), group=group))
        dist.barrier()
    return texts


def waits_shortly() -> str | None:
    said = None
    dist.all_reduce(ones(4))  # a communicator is made by the first call
    if dist.get_rank() == 0:
        work = dist.all_reduce(ones(4), async_op=True)
        said = _error(work.wait, timedelta(seconds=0.1))
        dist.send(torch.ones(1), 1)  # now rank 1 may continue
        work.wait()
    else:
        dist.recv(torch.ones(1), 0)
        dist.all_reduce(ones(4))
    return said


def overlapping() -> str:
    return _error(dist.all_reduce, ones(1).expand(4))


def wrong_size() -> str:
    return _error(dist.all_gather_into_tensor, ones(5), ones(3))


def wrong_dtype() -> str:
    return _error(dist.all_gather_into_tensor, ones(4, dtype=torch.float64), ones(2))


def bits_of_floats() -> str:
    return _error(dist.all_reduce, ones(4), dist.ReduceOp.BXOR)


def average_of_truth() -> str:
    return _error(dist.all_reduce, ones(4, dtype=torch.bool), dist.ReduceOp.AVG)


def uneven_rows() -> str:
    return _error(dist.all_to_all_single, ones(3), ones(3))


def two_devices() -> str:
    parts = [ones(4), torch.ones(4)]
    return _error(dist.all_gather, parts, ones(4))


def destroyed() -> str:
    group = dist.new_group(backend="dicl")
    dist.all_reduce(ones(4), group=group)
    dist.destroy_process_group(group)
    return _error(dist.all_reduce, ones(4), group=group)


def on_another_device() -> str:
    dist.all_reduce(ones(4))
    return _error(dist.all_reduce, torch.ones(4).to("dl:1"))

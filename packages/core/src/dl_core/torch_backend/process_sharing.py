"""Sharing of dl tensors between processes, through queues and pipes of ``torch.multiprocessing``.

The storage is not copied: sender and receiver share memory. Pickling synchronizes the device, so
that the receiver sees earlier writes. For later writes, the program must synchronize.
"""

from __future__ import annotations

from collections.abc import Callable
from multiprocessing.reduction import ForkingPickler
from typing import Any

import torch
from torch.multiprocessing import reductions

from dl_core import _C
from dl_core.torch_backend import DEVICE

Reduced = tuple[Callable[..., Any], tuple[Any, ...]]


def register() -> None:
    """Register the pickling of dl storages, which the pickling of tensors and modules uses."""
    ForkingPickler.register(torch.UntypedStorage, _reduce_storage)


def _reduce_storage(storage: torch.UntypedStorage) -> Reduced:
    if storage.device.type != DEVICE:
        return reductions.reduce_storage(storage)  # type: ignore[no-any-return]
    if storage.nbytes() == 0:
        return _empty, (storage.device.index,)
    whole = torch.empty(0, dtype=torch.uint8, device=storage.device).set_(storage)
    message = _C.lend_storage(whole)
    reductions.shared_cache[message] = reductions.StorageWeakRef(storage)
    return _rebuild_storage, (message,)


def _empty(index: int) -> torch.UntypedStorage:
    return torch.UntypedStorage(0, device=f"{DEVICE}:{index}")


def _rebuild_storage(message: bytes) -> torch.UntypedStorage:
    """Return the received storage; all tensors of a storage get the same object."""
    known = reductions.storage_from_cache(torch.UntypedStorage, message)
    if known is not None:
        _C.note_borrowed_again(message)
        return known  # type: ignore[no-any-return]
    storage = _C.borrow_storage(message).untyped_storage()
    reductions.shared_cache[message] = reductions.StorageWeakRef(storage)
    return storage

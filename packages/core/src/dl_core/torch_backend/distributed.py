"""``dicl``: the backend of :mod:`torch.distributed` for dl tensors.

torch imports ``torch.distributed`` before it starts backends, so registering a name here is cheap.
The compiled part is added when the first group is created.
"""

from __future__ import annotations

import datetime
import itertools
from typing import TYPE_CHECKING, Any

import torch.distributed as dist

from dl_core import _C
from dl_core.torch_backend import DEVICE, patches, tuning

if TYPE_CHECKING:
    from dl_core.torch_backend.agreement import Agreement, Store

BACKEND = "dicl"
_PATIENCE = datetime.timedelta(seconds=60)
_settings = {"communicators": True}
_agreements = itertools.count()
"""Numbers the agreements, because a store may still contain messages of an earlier one."""


def register(over: str) -> None:
    """Register the backend with torch, as default for dl; a second call does nothing.

    :param over: value of ``DL_DISTRIBUTED``.
    """
    _settings["communicators"] = over == "auto"
    if not dist.is_available() or BACKEND in dist.Backend.backend_list:
        return
    # CPU tensors use the gloo group that also carries dl's: `init_process_group("dicl")` covers
    # both.
    dist.Backend.register_backend(BACKEND, _create, extended_api=True, devices=[DEVICE, "cpu"])


def _create(options: Any, _: Any) -> Any:
    """Create the backend; torch calls this on every rank of a new group.

    :raises torch.distributed.DistBackendError: not every rank joined within the timeout.
    """
    _C.bind_distributed()
    patches.apply_distributed()
    timeout = options.timeout
    if not isinstance(timeout, datetime.timedelta):
        timeout = datetime.timedelta(seconds=timeout)
    group = _C.Dicl(
        _make_gloo,
        options.store,
        options.group_rank,
        options.group_size,
        options.group_id,
        timeout,
        _settings["communicators"],
    )
    if options.group_size > 1 and not dist.is_initialized():
        # The default group, which contains every rank of the job.
        _agree(options.store, options.group_rank, options.group_size, timeout)
    return group


def agree_on_tuning(timeout: datetime.timedelta = _PATIENCE) -> Agreement:
    """Use the same measured choices as the other ranks of the job from now on.

    ``init_process_group`` calls it if dicl is the backend of dl tensors. All ranks must call it; if
    one does not within the timeout, or cannot read or install the choices, no rank uses any, and a
    warning says why.

    :raises RuntimeError: there is no default group.
    """
    if not dist.is_initialized():
        raise RuntimeError(
            "[torch.dl.agree_on_tuning] there are no ranks to agree with: call"
            " torch.distributed.init_process_group() first"
        )
    store = dist.distributed_c10d._get_default_store()
    return _agree(store, dist.get_rank(), dist.get_world_size(), timeout)


def _agree(store: Store, rank: int, size: int, timeout: datetime.timedelta) -> Agreement:
    from dl_core.torch_backend.agreement import Place, agree

    place = Place(store, rank, size, timeout)
    return agree(place, f"dl/tuning/{next(_agreements)}", tuning)


def _make_gloo(store: Any, rank: int, size: int, group: Any, timeout: datetime.timedelta) -> Any:
    """Create the gloo group, for calls that the vendor's communicator does not support."""
    try:
        gloo = dist.ProcessGroupGloo(store, rank, size, timeout=timeout)
        gloo.options.group_name = group
        gloo._set_sequence_number_for_group()
    except RuntimeError as error:
        raise dist.DistBackendError(
            f"[dicl] rank {rank} cannot join group {group} of {size} ranks within "
            f"{timeout.total_seconds():g} s: a rank has not joined, or has exited. Start all "
            f"ranks, or give init_process_group() a longer timeout. gloo says: "
            f"{str(error).splitlines()[0]}"
        ) from error
    return gloo

"""Execution of one overload on the CPU for a device, so that only the values may differ.

In-place writes happen on the device, returned arguments are the same objects, and views stay views.
Random operators draw on the device, as in the program without the tool, unless they are requested:
then they draw on the CPU from a stream that is derived from the device's seed.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

import torch

from diopi_proto.tolerance.torch_operators.op_classes import base_name, draws
from diopi_proto.tolerance.torch_operators.schema import Overload, signature
from dl_optools.compare.equivalents import EQUIVALENTS
from dl_optools.host_implementations import HOST_IMPLEMENTATIONS
from dl_optools.relocation import Relocation
from dl_optools.tensors import map_leaves, tensors_of

_HOST_KEYS = (
    "CPU",
    "CompositeExplicitAutograd",
    "CompositeExplicitAutogradNonFunctional",
    "CompositeImplicitAutograd",
)


@functools.cache
def has_host_kernel(overload: Overload[Any, Any]) -> bool:
    """Return True if the CPU computes an overload: fused cells and others are for devices only."""
    # Some have CPU kernels that only raise an error.
    if base_name(overload) in EQUIVALENTS:
        return False
    has = torch._C._dispatch_has_kernel_for_dispatch_key
    return any(has(overload.name(), key) for key in _HOST_KEYS)


def only_on_device(overload: Overload[Any, Any]) -> bool:
    """Return True if the CPU cannot compute it; :func:`run_on_host` runs it on the device."""
    if signature(overload).view or base_name(overload) in HOST_IMPLEMENTATIONS:
        return False
    return not has_host_kernel(overload)


def leaves_device(
    overload: Overload[Any, Any],
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    *,
    random: bool = False,
) -> bool:
    """Return True if :func:`run_on_host` computes this call on the CPU."""
    given = tensors_of(args, kwargs)
    if not given or signature(overload).view or _requests_other_device(given, kwargs):
        return False
    if only_on_device(overload):
        return False
    has_form = base_name(overload) in HOST_IMPLEMENTATIONS
    return not draws(overload, args, kwargs) or (random and not has_form)


def run_on_host(
    overload: Overload[Any, Any],
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    *,
    random: bool = False,
    leaves: bool | None = None,
) -> Any:
    """Call an overload with copies of the arguments on the CPU, and transfer its effects back.

    Overloads that compute nothing run unchanged: views, factories, and copies between devices; so
    do overloads that only devices have.

    :param random: also draw on the CPU, whose numbers differ from the device's.
    :param leaves: the result of :func:`leaves_device`, if the caller has it.
    """
    if leaves is None:
        leaves = leaves_device(overload, args, kwargs, random=random)
    if not leaves:
        return overload(*args, **kwargs)
    facts = signature(overload)
    given = tensors_of(args, kwargs)
    form = HOST_IMPLEMENTATIONS.get(base_name(overload))
    device = next((x.device for x in given if x.device.type != "cpu"), given[0].device)
    moved = Relocation((args, dict(kwargs)))
    host_args, host_kwargs = moved.tree
    with contextlib.ExitStack() as stack:
        if facts.random:
            generator = next((x for x in kwargs.values() if isinstance(x, torch.Generator)), None)
            host = stack.enter_context(_stream(device, generator))
            if generator is not None:
                host_kwargs["generator"] = host
        result = (form or overload)(*host_args, **host_kwargs)
    bound = facts.bind(args, kwargs)
    host_bound = facts.bind(host_args, host_kwargs)
    for name in facts.written:
        _write_back(bound.get(name), host_bound.get(name))
    if len(facts.returned) == 1:
        return _transfer_result(result, facts.returned[0], bound, moved, device)
    if not isinstance(result, tuple):
        return result
    return tuple(
        _transfer_result(part, owner, bound, moved, device)
        for part, owner in zip(result, facts.returned, strict=True)
    )


def _requests_other_device(given: list[torch.Tensor], kwargs: Mapping[str, Any]) -> bool:
    """Return True if ``device=`` requests the result on another device than the arguments."""
    wanted = kwargs.get("device")
    return wanted is not None and any(x.device.type != torch.device(wanted).type for x in given)


def _write_back(originals: Any, copies: Any) -> None:
    for original, copy in zip(tensors_of(originals), tensors_of(copies), strict=True):
        if original.shape != copy.shape:
            original.resize_(copy.shape)
            if original.stride() != copy.stride():
                original.as_strided_(copy.size(), copy.stride())
        original.copy_(copy)


def _transfer_result(
    result: Any,
    owner: str | None,
    bound: Mapping[str, Any],
    moved: Relocation,
    device: torch.device,
) -> Any:
    """Return a result as the program expects it: its own argument, a view of one, or new memory."""
    if owner is not None:
        return bound[owner]

    def leaf(value: Any) -> Any:
        if not isinstance(value, torch.Tensor):
            return value
        view = moved.original_view(value)
        if view is not None:
            return view
        there = value.to(device)
        # Copies between devices may drop strides, which are part of a result.
        if there.layout == torch.strided and there.stride() != value.stride():
            there = torch.empty_strided(
                value.size(), value.stride(), dtype=value.dtype, device=device
            ).copy_(value)
        return there

    return map_leaves(leaf, result)


@contextlib.contextmanager
def _stream(
    device: torch.device, generator: torch.Generator | None
) -> Iterator[torch.Generator | None]:
    """Draw random numbers on the CPU that follow the seed and state of the device's generator.

    The CPU's own stream does not change, and the device's advances: the next call draws other
    numbers.
    """
    if device.type == "cpu":
        yield generator
        return
    if generator is None:
        state = torch.get_device_module(device).get_rng_state(device)
    else:
        state = generator.get_state()
    digest = hashlib.sha256(state.cpu().numpy().tobytes()).digest()
    seed = int.from_bytes(digest[:7], "little")
    own = torch.random.get_rng_state()
    try:
        if generator is None:
            # Not torch.manual_seed, which seeds every device.
            torch._C.default_generator.manual_seed(seed)
            yield None
        else:
            yield torch.Generator().manual_seed(seed)
    finally:
        torch.random.set_rng_state(own)
        torch.empty(1, device=device).uniform_(generator=generator)


@contextlib.contextmanager
def on_one_thread() -> Iterator[None]:
    """Keep the CPU from splitting sums among threads, as autocompare does for its references."""
    usual = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(usual)

"""Running one overload on the CPU for a device, so that only the numbers tell the program.

What the overload writes is written on the device, what it returns of its arguments is the same
object, and views stay views. Random operators draw on the device, as the program without the tool
does, unless they are asked for: then from a stream that the device's seed decides.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

import torch

from dl_core.torch_backend.judging.op_classes import base_name, draws
from dl_core.torch_backend.judging.schema import Overload, signature
from dl_optools.compare.equivalents import EQUIVALENTS
from dl_optools.host_forms import HOST_FORMS
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
    """Whether the CPU computes an overload: fused cells and the like are for devices only."""
    # The kernels that the CPU has of some of these only refuse.
    if base_name(overload) in EQUIVALENTS:
        return False
    has = torch._C._dispatch_has_kernel_for_dispatch_key
    return any(has(overload.name(), key) for key in _HOST_KEYS)


def only_on_device(overload: Overload[Any, Any]) -> bool:
    """Whether nothing computes an overload on the CPU; :func:`run_on_host` leaves it there."""
    if signature(overload).view or base_name(overload) in HOST_FORMS:
        return False
    return not has_host_kernel(overload)


def run_on_host(
    overload: Overload[Any, Any],
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    *,
    random: bool = False,
) -> Any:
    """Call an overload with the arguments' copies on the CPU and carry its effects back.

    What computes nothing runs where it always does: views, factories, and moves between devices; so
    does what only devices have.

    :param random: draw on the CPU, too: other numbers than the device's.
    """
    facts = signature(overload)
    given = tensors_of(args, kwargs)
    if facts.view or not given or _moves(given, kwargs) or only_on_device(overload):
        return overload(*args, **kwargs)
    form = HOST_FORMS.get(base_name(overload))
    if draws(overload, args, kwargs) and (form is not None or not random):
        return overload(*args, **kwargs)
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
        return _carry(result, facts.returned[0], bound, moved, device)
    if not isinstance(result, tuple):
        return result
    return tuple(
        _carry(part, owner, bound, moved, device)
        for part, owner in zip(result, facts.returned, strict=True)
    )


def _moves(given: list[torch.Tensor], kwargs: Mapping[str, Any]) -> bool:
    """Whether ``device=`` asks for the result elsewhere than the arguments are."""
    wanted = kwargs.get("device")
    return wanted is not None and any(x.device.type != torch.device(wanted).type for x in given)


def _write_back(originals: Any, copies: Any) -> None:
    for original, copy in zip(tensors_of(originals), tensors_of(copies), strict=True):
        if original.shape != copy.shape:
            original.resize_(copy.shape)
            if original.stride() != copy.stride():
                original.as_strided_(copy.size(), copy.stride())
        original.copy_(copy)


def _carry(
    result: Any,
    owner: str | None,
    bound: Mapping[str, Any],
    moved: Relocation,
    device: torch.device,
) -> Any:
    """A result as the program gets it: its own argument, a view of one, or new memory."""
    if owner is not None:
        return bound[owner]

    def leaf(value: Any) -> Any:
        if not isinstance(value, torch.Tensor):
            return value
        view = moved.original_view(value)
        if view is not None:
            return view
        there = value.to(device)
        # Copies between devices may drop strides; layouts are part of a result.
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
    """Random numbers on the CPU that follow the seed and state of the device, or of its generator.

    The CPU's own stream stays as it is, and the device's moves on: the next call draws others.
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
            # Not torch.manual_seed: that seeds every device.
            torch._C.default_generator.manual_seed(seed)
            yield None
        else:
            yield torch.Generator().manual_seed(seed)
    finally:
        torch.random.set_rng_state(own)
        torch.empty(1, device=device).uniform_(generator=generator)


@contextlib.contextmanager
def on_one_thread() -> Iterator[None]:
    """The CPU splits no sum among threads, as where autocompare computes its references."""
    usual = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(usual)

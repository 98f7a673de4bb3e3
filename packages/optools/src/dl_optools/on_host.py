"""Running one overload on the CPU for a device, so that the program cannot tell but by the numbers.

What the overload writes is written on the device, what it returns of its arguments is the same
object, views stay views, and random operators draw a stream that the device's seed decides.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch.utils._pytree import tree_map

from dl_optools.relocation import Relocation
from dl_optools.schema import Overload, signature
from dl_optools.tensors import tensors_of


def run_on_host(
    overload: Overload[Any, Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> Any:
    """Call an overload with the arguments' copies on the CPU and carry its effects back.

    Views and overloads without tensors (factories) run on the device: they compute nothing.
    """
    facts = signature(overload)
    given = tensors_of(args, kwargs)
    if facts.view or not given:
        return overload(*args, **kwargs)
    device = next((x.device for x in given if x.device.type != "cpu"), given[0].device)
    moved = Relocation((args, dict(kwargs)))
    host_args, host_kwargs = moved.tree
    with _device_stream(device) if facts.random else contextlib.nullcontext():
        result = overload(*host_args, **host_kwargs)
    bound = facts.bind(args, kwargs)
    host_bound = facts.bind(host_args, host_kwargs)
    for name in facts.written:
        _write_back(bound.get(name), host_bound.get(name))
    if len(facts.returned) == 1:
        return _carry(result, facts.returned[0], bound, moved, device)
    if not isinstance(result, tuple):
        return result
    parts = [
        _carry(part, owner, bound, moved, device)
        for part, owner in zip(result, facts.returned, strict=True)
    ]
    return type(result)(parts) if type(result) is not tuple else tuple(parts)


def _write_back(originals: Any, copies: Any) -> None:
    for original, copy in zip(tensors_of(originals), tensors_of(copies), strict=True):
        if original.shape != copy.shape:
            original.resize_(copy.shape)
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

    return tree_map(leaf, result)


@contextlib.contextmanager
def _device_stream(device: torch.device) -> Iterator[None]:
    """The CPU's random numbers follow the device's seed and state, and the CPU's own stay put."""
    if device.type == "cpu":
        yield
        return
    state = torch.get_device_module(device).get_rng_state(device)
    digest = hashlib.sha256(state.cpu().numpy().tobytes()).digest()
    own = torch.random.get_rng_state()
    torch.random.default_generator.manual_seed(int.from_bytes(digest[:7], "little"))
    try:
        yield
    finally:
        torch.random.set_rng_state(own)
        # The device's own stream moves on, so that the next call draws other numbers.
        torch.empty(1, device=device).uniform_()

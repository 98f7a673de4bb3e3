"""Restoration of a captured call: its tensors, random generators and thread settings.

This module needs only torch: exported scripts contain its source, see
:mod:`.replay.script_template`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import torch


class Arrive(torch.autograd.Function):
    """Makes a tensor a result of autograd, so that in-place operators accept it."""

    @staticmethod
    def forward(ctx: Any, anchor: torch.Tensor, tensor: torch.Tensor) -> torch.Tensor:
        # The same memory, but not a view for autograd.
        return tensor.data

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> tuple[None, None]:
        return None, None


def with_gradient(tensor: torch.Tensor, leaf: bool) -> torch.Tensor:
    """Return the tensor with requires_grad set, as a leaf of the graph or not."""
    if leaf:
        return tensor.requires_grad_()
    with torch.enable_grad():
        anchor = torch.zeros((), requires_grad=True)
        arrived: torch.Tensor = Arrive.apply(anchor, tensor)  # type: ignore[no-untyped-call]
    return arrived


def view_bytes(flat: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """Reinterpret bytes as elements of a dtype; trailing bytes are dropped."""
    return flat[: flat.numel() - flat.numel() % dtype.itemsize].view(dtype)


def with_bits(plain: torch.Tensor, conj: bool, neg: bool) -> torch.Tensor:
    """Return the tensor with its conjugate and negative bits."""
    if neg:
        plain = torch._neg_view(plain)
    return plain.conj() if conj else plain


def build_sparse(
    layout: str, parts: list[torch.Tensor], shape: Any, coalesced: bool
) -> torch.Tensor:
    """Build a sparse tensor from its parts, in the order of the names in its layout."""
    if layout == "sparse_coo":
        return torch.sparse_coo_tensor(
            parts[0], parts[1], shape, check_invariants=True, is_coalesced=coalesced
        )
    kind = getattr(torch, layout)
    compressed, plain, values = parts
    return torch.sparse_compressed_tensor(
        compressed, plain, values, shape, layout=kind, check_invariants=True
    )


def make_synchronizer(device: torch.device) -> Callable[[], None]:
    """Return a function that waits until the device has finished its work."""
    if device.type == "cpu":
        return lambda: None
    module = torch.get_device_module(device)
    return lambda: module.synchronize()


@contextlib.contextmanager
def random_state(device: torch.device, kind: str, state: torch.Tensor) -> Iterator[None]:
    """Set the device's default generator to a captured state, and restore it afterwards.

    On another kind of device a seed derived from the state is used instead.
    """
    module: Any = torch if device.type == "cpu" else torch.get_device_module(device)
    target = () if device.type == "cpu" else (device,)
    before = module.get_rng_state(*target)
    try:
        if device.type == kind:
            module.set_rng_state(state, *target)
        else:
            module.manual_seed(int.from_bytes(bytes(state.tolist()[:7]), "little"))
        yield
    finally:
        module.set_rng_state(before, *target)


@contextlib.contextmanager
def default_dtype(dtype: torch.dtype) -> Iterator[None]:
    """Set the default dtype of tensors created from Python numbers."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


def make_generator(
    device: torch.device, kind: str, seed: int, state: torch.Tensor
) -> torch.Generator:
    """Return a generator in a captured state, or with its seed if states are incompatible."""
    result = torch.Generator(device).manual_seed(seed)
    return result.set_state(state) if device.type == kind else result

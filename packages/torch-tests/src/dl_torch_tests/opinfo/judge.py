"""Judgment of one result: metadata equal to the CPU's, values close enough to float64's.

The rule allows up to twice the CPU's own error, so a result that is bitwise equal to the CPU's
passes without a reference, which is computed only for other results.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from diopi_proto.tolerance import OpClass, compare
from diopi_proto.tolerance.torch_operators.comparison import as_array, same_values, to_host

Reference = Callable[[], Any]


def layout_class(tensor: torch.Tensor) -> dict[str, bool]:
    """Return the properties of a result's strides that callers may rely on."""
    found = {"contiguous": tensor.is_contiguous()}
    for name, dim in (("channels_last", 4), ("channels_last_3d", 5)):
        if tensor.dim() == dim:
            found[name] = tensor.is_contiguous(memory_format=getattr(torch, name))
    # An expanded result must not be written to; a result that is not expanded must not become one.
    found["overlapping"] = any(
        stride == 0 and size > 1 for size, stride in zip(tensor.shape, tensor.stride(), strict=True)
    )
    return found


def metadata_problem(
    got: torch.Tensor, cpu: torch.Tensor, device: str, *, any_strides: bool = False
) -> str | None:
    """Return how the metadata of ``got`` differs from the CPU's result, or None."""
    pairs: list[tuple[str, Any, Any]] = [
        ("device", got.device.type, torch.device(device).type),
        ("dtype", got.dtype, cpu.dtype),
        ("shape", tuple(got.shape), tuple(cpu.shape)),
        ("layout", got.layout, cpu.layout),
    ]
    if got.layout == cpu.layout == torch.strided and cpu.numel() > 0 and not any_strides:
        pairs.append(("strides", layout_class(got), layout_class(cpu)))
    for name, have, want in pairs:
        if have != want:
            return f"{name} is {have}, want {want}"
    return None


def value_problem(
    got: torch.Tensor,
    cpu: torch.Tensor,
    reference: torch.Tensor | None,
    op_class: OpClass,
    terms: int,
    magnitude: torch.Tensor | None = None,
    *,
    with_peer: bool = True,
) -> str | None:
    """Return how the values of ``got`` differ from ``reference`` by more than the rule allows, or
    None.

    :param reference: float64 or complex128; if None, the result has to equal the CPU's exactly.
    :param terms: reduction length, for the classes that have one.
    :param magnitude: see :mod:`diopi_proto.tolerance.torch_operators.conditioning`; ignored where
        the reference is not finite.
    :param with_peer: allow for the CPU's own error, too.
    """
    host, peer = to_host(got), to_host(cpu)
    if same_values(host, peer):
        return None
    if not (host.is_floating_point() or host.is_complex()):
        return _exact_problem(host, peer, reference)
    name = str(host.dtype).removeprefix("torch.")
    if reference is None or reference.dtype not in (torch.float64, torch.complex128):
        return f"{_differing(host, peer)}, and there is no float64 reference to excuse it"
    want = to_host(reference).numpy()
    if want.shape != tuple(host.shape):
        return f"the reference has shape {want.shape}, the result {tuple(host.shape)}"
    wide = None
    if magnitude is not None:
        wide = np.nan_to_num(magnitude.numpy(), nan=0.0, posinf=0.0)
    outcome = compare(
        as_array(host),
        want,
        dtype=name,
        op_class=op_class,
        reduction_length=terms,
        magnitude=wide,
        peer=as_array(peer) if with_peer else None,
    )
    return None if outcome.ok else outcome.report(name)


def _exact_problem(
    host: torch.Tensor, peer: torch.Tensor, reference: torch.Tensor | None
) -> str | None:
    """Compare integers and bools: each must equal the CPU's or the reference's."""
    wrong = host != peer
    if reference is not None and (reference.dtype, reference.shape) == (host.dtype, host.shape):
        wrong &= host != to_host(reference)
    if not wrong.any():
        return None
    return f"{int(wrong.sum())} of {host.numel()} {host.dtype} elements differ"


def _differing(host: torch.Tensor, peer: torch.Tensor) -> str:
    differ = (host != peer) & ~((host != host) & (peer != peer))
    return f"{int(differ.sum())} of {host.numel()} elements differ from the CPU's"

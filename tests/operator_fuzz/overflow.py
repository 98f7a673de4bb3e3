"""Elements without a right value, because the call's dtype overflows on torch's CPU as well.

The float64 reference is finite there, or infinite where float32 ends in nan. The result of a device
depends on the order of its operations there, so such elements are ignored.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import torch
from torch.utils._pytree import tree_map

from diopi_proto.tolerance.torch_operators.comparison import same_elements, to_host
from dl_optools.relocation import WIDER
from dl_torch_tests.opinfo.relocate import Relocation
from dl_torch_tests.opinfo.sweep import Outcome, run

from .calls import FuzzCall


@dataclass
class Settled(Outcome):
    """An outcome with replaced values."""

    replaced: list[Any] = field(default_factory=list)

    def values(self) -> list[Any]:
        return self.replaced


def without_overflow(call: FuzzCall, cpu: Outcome, got: Outcome) -> Outcome | None:
    """Return ``got`` with the CPU's elements where the CPU overflows; None if there are none."""
    wide = run_wide(call)
    references = wide.values()
    pairs = list(zip(got.values(), cpu.values(), strict=True))
    if wide.error is not None or len(references) != len(pairs):
        return None
    larger = run_on_magnitudes(call)
    replaced = list(got.values())
    changed = False
    for at, (have, want) in enumerate(pairs):
        where = _overflows(have, want, references[at], larger[at] if larger else None)
        if where is not None and bool(where.any()):
            replaced[at] = torch.where(where, to_host(want), to_host(have))
            changed = True
    return Settled(got.arguments, got.result, replaced=replaced) if changed else None


def run_wide(call: FuzzCall) -> Outcome:
    """Make the call on the CPU in float64."""
    return run(call.function, Relocation(dtypes=WIDER)(call.arguments), default=torch.float64)


def run_on_magnitudes(call: FuzzCall) -> list[Any] | None:
    """Return the CPU's values for positive finite arguments: the magnitude of a sum's terms."""

    def positive(value: Any) -> Any:
        if not isinstance(value, torch.Tensor) or value.layout != torch.strided:
            return value
        if not value.dtype.is_floating_point:
            return value
        magnitude = value.detach().abs().nan_to_num(0.0, 0.0, 0.0)
        return magnitude.requires_grad_(value.requires_grad)

    outcome = run(call.function, tree_map(positive, Relocation()(call.arguments)))
    return None if outcome.error is not None else outcome.values()


def _overflows(have: Any, want: Any, reference: Any, larger: Any) -> torch.Tensor | None:
    tensors = (have, want, reference)
    if not all(isinstance(x, torch.Tensor) and x.shape == want.shape for x in tensors):
        return None
    if not (want.dtype.is_floating_point or want.dtype.is_complex):
        return None
    peer, exact = to_host(want), to_host(reference)
    rounded = exact.to(peer.dtype)
    where = ~peer.isfinite() & ~same_elements(peer, rounded)
    # Terms leave the range, and the result depends on the order in which they are added.
    if isinstance(larger, torch.Tensor) and larger.shape == want.shape:
        where |= ~to_host(larger).isfinite()
    return where

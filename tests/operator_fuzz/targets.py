"""The fuzzed operators, with their forms and the samples from which calls are derived."""

from __future__ import annotations

import functools
import itertools
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.testing._internal.common_methods_invocations import op_db
from torch.testing._internal.opinfo.core import BinaryUfuncInfo, UnaryUfuncInfo

from dl_torch_tests.opinfo.operators import Judgement, full_name
from dl_torch_tests.opinfo.sweep import Arguments, tensors_of

SAMPLES = 60
"""Maximum number of samples of an operator; later ones of a database entry are rarely different."""

CUDA_ONLY = (
    "jiterator",
    "torch.ops.aten._flash_attention_forward",
    "torch.ops.aten._efficient_attention_forward",
)
"""Database entries whose samples need CUDA."""

SAMPLE_DTYPES = (torch.float32, torch.int64, torch.complex64, torch.bool, torch.float64)
"""Dtypes of samples, in order of preference; mutations change them."""


@dataclass(frozen=True)
class Target:
    """One operator.

    :ivar forms: its callables by form: function, method, operator, in-place, out, gradient.
    :ivar elementwise: out= may be one of the arguments.
    :ivar samples: creates the samples on the CPU, the same in every process.
    """

    name: str
    judgement: Judgement
    forms: dict[str, Callable[..., Any]]
    elementwise: bool
    samples: Callable[[], list[Arguments]] = field(compare=False)


def _samples(op: Any) -> list[Arguments]:
    dtype = next((x for x in SAMPLE_DTYPES if x in op.dtypes), next(iter(op.dtypes)))
    torch.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = itertools.islice(op.sample_inputs("cpu", dtype, requires_grad=False), SAMPLES)
        calls = [(x.input, tuple(x.args), dict(x.kwargs)) for x in found]
    # A factory without a device does not use the device under test.
    return [call for call in calls if tensors_of(call) or "device" in call[2]]


def _of_entry(op: Any) -> Target:
    forms: dict[str, Callable[..., Any]] = {"function": op}
    ways = {
        "method": op.method_variant,
        "operator": op.operator_variant,
        "in-place": op.inplace_variant,
        "in-place operator": op.inplace_operator_variant,
    }
    forms |= {name: way for name, way in ways.items() if way is not None and way is not op.op}
    if op.supports_out:
        forms["out"] = op
    if op.supports_autograd:
        forms["gradient"] = op
    elementwise = isinstance(op, (UnaryUfuncInfo, BinaryUfuncInfo))
    samples = functools.partial(_samples, op)
    return Target(full_name(op), Judgement.of(op), forms, elementwise, samples)


@functools.cache
def targets() -> dict[str, Target]:
    """Return every operator by name."""
    entries = (op for op in op_db if op.dtypes and not op.name.startswith(CUDA_ONLY))
    return {target.name: target for target in map(_of_entry, entries)}


def target_of(name: str) -> Target:
    """Return an operator by its name, including those with planted faults."""
    from .planted import PREFIX, planted

    return planted(name.removeprefix(PREFIX)) if name.startswith(PREFIX) else targets()[name]

"""Operators that a vendor claims: run with the fallback forbidden, and right where they run."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch.testing._internal.common_methods_invocations import op_db

from .direct_cases import CASES
from .gradients import gradient_cases
from .operators import Judgement, full_name
from .relocate import Relocation
from .sweep import (
    Arguments,
    Call,
    compare_outcomes,
    describe,
    move,
    run,
    samples_of,
    tensors_of,
)

REFUSED = re.compile(r"\[dl\] aten::(\S+) does not run natively")
PLAIN_DTYPES = (torch.float32, torch.int64, torch.bool)
"""Values, indices and masks."""

# Which OpInfo operators call an overload whose own name none has.
_FORWARD: dict[str, tuple[str, ...]] = {
    "_log_softmax": ("log_softmax",),
    "_softmax": ("softmax",),
    "add.Tensor": ("add",),
    "bernoulli_.float": ("nn.functional.dropout",),
    "convolution": ("nn.functional.conv2d",),
    "embedding": ("nn.functional.embedding",),
    "fill_.Scalar": ("fill", "ones_like"),
    "gelu": ("nn.functional.gelu",),
    "masked_fill_.Scalar": ("masked_fill", "nn.functional.threshold"),
    "max_pool2d_with_indices": ("nn.functional.max_pool2d",),
    "nll_loss_forward": ("nn.functional.nll_loss",),
    "normal_": ("normal.in_place", "randn_like", "randn"),
    "relu": ("nn.functional.relu",),
    "silu": ("nn.functional.silu",),
    "uniform_": ("uniform", "rand_like"),
    "zero_": ("zeros_like", "new_zeros"),
}
_BACKWARD: dict[str, tuple[str, ...]] = {
    "_log_softmax_backward_data": ("log_softmax",),
    "_softmax_backward_data": ("softmax",),
    "convolution_backward": ("nn.functional.conv2d",),
    "embedding_dense_backward": ("nn.functional.embedding",),
    "gelu_backward": ("nn.functional.gelu",),
    "max_pool2d_with_indices_backward": ("nn.functional.max_pool2d",),
    "native_batch_norm_backward": ("native_batch_norm",),
    "native_layer_norm_backward": ("native_layer_norm",),
    "nll_loss_backward": ("nn.functional.nll_loss",),
    "sigmoid_backward": ("sigmoid",),
    "silu_backward": ("nn.functional.silu",),
    "tanh_backward": ("tanh",),
    "threshold_backward": ("nn.functional.relu",),
}


# Plain samples that dl-core leaves to the CPU: a pattern of what describe() says, and why.
DECLARED = {
    "_log_softmax": (r"\(float32\[\]", "no dimensions: nothing to gain"),
    "_softmax": (r"\(float32\[\]", "no dimensions: nothing to gain"),
    "cumsum": (r"\(float32\[\]", "no dimensions: nothing to gain"),
    "embedding": (r".*sparse=True", "its gradient is a sparse tensor"),
    "gather": (r"\(float32\[\]", "no dimensions: nothing to gain"),
    "index_select": (r"\(float32\[\]", "no dimensions: nothing to gain"),
    "masked_select": (r"\(float32(\[.*?\]), bool(?!\1)", "the contract does not broadcast"),
    "max_pool2d_with_indices": (r"\(float32\[\d+, \d+, \d+\]", "the contract wants a batch"),
    "max_pool2d_with_indices_backward": (
        r"\(float32\[\d+, \d+, \d+\]",
        "the contract wants a batch",
    ),
    "nll_loss_forward": (r"\(float32\[\d+\], ", "the contract wants a batch"),
}


def is_declared(overload: str, arguments: Arguments) -> bool:
    """Whether dl-core says that it leaves such a call to the CPU."""
    return overload in DECLARED and bool(re.match(DECLARED[overload][0], describe(arguments)))


@dataclass
class NativeReport:
    """What one claimed overload did."""

    overload: str
    ran: int = 0
    """How often the vendor's code ran."""
    right: int = 0
    refused: int = 0
    problems: list[str] = field(default_factory=list)

    def text(self) -> str:
        return (
            f"{self.overload}: the vendor's code ran {self.ran} times, {self.right} samples right, "
            f"{self.refused} refused\n" + "\n".join(self.problems[:5])
        )


def exercising(overload: str) -> list[tuple[Any, str]]:
    """What calls ``overload``, and in which mode; empty if nothing is known to."""
    if overload in CASES:
        return [(CASES[overload], "forward")]
    mode = "backward" if overload in _BACKWARD else "forward"
    table = _BACKWARD if mode == "backward" else _FORWARD
    names = table.get(overload, (overload.split(".")[0],))
    return [(op, mode) for op in op_db if full_name(op) in names]


def home_dtype(overload: str) -> torch.dtype:
    """float32, or int64 for operators on integers."""
    found = exercising(overload)
    return torch.float32 if not found or torch.float32 in found[0][0].dtypes else torch.int64


def check_native(overload: str, dtype: torch.dtype, device: str) -> NativeReport:
    """Run every sample that may call ``overload``, in ``dtype``, with the fallback forbidden.

    In its home dtype the vendor's code has to run on plain samples; in others it may refuse.
    """
    report = NativeReport(overload)
    at_home = dtype == home_dtype(overload)
    torch.dl.reset_native_stats()
    with torch.dl.fallback("error"), torch.dl.profile_operators():
        for op, mode in exercising(overload):
            differentiable = dtype.is_floating_point or dtype.is_complex
            if mode == "backward" and not differentiable:
                continue
            if dtype in (op.dtypes if mode == "forward" else op.backward_dtypes):
                for call, arguments in _calls(op, mode, dtype):
                    # As for gradients in general: see gradients.py.
                    judgement = replace(Judgement.of(op), normwise=mode == "backward")
                    must_run = at_home and not is_declared(overload, arguments)
                    _one(report, op, judgement, call, arguments, device, must_run)
    report.ran = torch.dl.native_stats().get(overload, {"count": 0})["count"]
    return report


def _calls(op: Any, mode: str, dtype: torch.dtype) -> Iterator[tuple[Call, Arguments]]:
    if mode == "backward":
        yield from gradient_cases(op, dtype)
        return

    def call(arguments: Arguments) -> Any:
        first, args, kwargs = arguments
        return op(first, *args, **kwargs)

    for arguments in samples_of(op, dtype):
        yield call, arguments


def _one(
    report: NativeReport,
    op: Any,
    judgement: Judgement,
    call: Call,
    original: Arguments,
    device: str,
    must_run: bool,
) -> None:
    cpu = run(call, Relocation()(original))
    got = run(call, move(original, judgement, device))
    refusal = REFUSED.match(str(got.error)) if got.error is not None else None
    if refusal is None:
        problem, _ = compare_outcomes(call, original, cpu, got, judgement, device)
        report.right += problem is None
    else:
        problem = None
        report.refused += 1
        if must_run and refusal[1] == report.overload and is_plain(original):
            problem = f"refused although plain: {got.error}"
    if problem is not None:
        report.problems.append(f"{full_name(op)} {describe(original)}: {problem}")


def is_plain(arguments: Arguments) -> bool:
    """Contiguous tensors with elements, float32 but for indices and masks."""
    return all(
        tensor.layout == torch.strided
        and tensor.is_contiguous()
        and tensor.numel() > 0
        and tensor.dtype in PLAIN_DTYPES
        for tensor in tensors_of(arguments)
    )

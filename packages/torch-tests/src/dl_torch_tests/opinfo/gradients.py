"""Comparison of the gradients of one OpInfo operator on dl with the CPU's and float64's."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from torch.utils._pytree import tree_flatten

from diopi_proto.tolerance import OpClass

from .operators import Judgement, full_name
from .relocate import Relocation
from .sweep import Arguments, Call, Report, compare_calls, run, spread, tensors_of

COTANGENTS = "cotangents"


def check_backward(op: Any, dtype: torch.dtype, device: str, limit: int | None = None) -> Report:
    """Check the gradients of the samples with respect to every differentiable argument."""
    report = Report(f"{full_name(op)} {dtype} backward")
    # A gradient sums the contributions of all paths, which may cancel.
    judgement = replace(Judgement.of(op), op_class=OpClass.REDUCTION, normwise=True)
    for at, (call, original) in enumerate(gradient_cases(op, dtype, limit)):
        problem, refused = compare_calls(call, original, judgement, device)
        report.samples += 1
        report.refused += refused
        report.add(at, original, problem)
    return report


def gradient_cases(
    op: Any, dtype: torch.dtype, limit: int | None = None
) -> Iterator[tuple[Call, Arguments]]:
    """Yield functions that return the gradients of a sample, and their arguments."""
    torch.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        samples = list(op.sample_inputs("cpu", dtype, requires_grad=True))
    for sample in spread(samples, limit):
        original = (sample.input, tuple(sample.args), dict(sample.kwargs))
        process = sample.output_process_fn_grad
        outputs = run(partial(_outputs, op, process), Relocation()(original)).result
        if outputs and any(tensor.requires_grad for tensor in tensors_of(original)):
            # The cotangents are arguments too: the magnitude of the gradients' sums depends on
            # them.
            original[2][COTANGENTS] = [cotangent(output) for output in outputs]
            yield _gradients_of(op, process), original


def _outputs(op: Any, process: Any, arguments: Arguments) -> list[torch.Tensor]:
    """Return the differentiable results."""
    first, args, kwargs = arguments
    leaves = tree_flatten(process(op(first, *args, **kwargs)))[0]
    return [leaf for leaf in leaves if isinstance(leaf, torch.Tensor) and leaf.requires_grad]


def _gradients_of(op: Any, process: Any) -> Any:
    def call(arguments: Arguments) -> Any:
        first, args, kwargs = arguments
        inputs = [tensor for tensor in tensors_of(arguments) if tensor.requires_grad]
        wanted = {k: v for k, v in kwargs.items() if k != COTANGENTS}
        outputs = _outputs(op, process, (first, args, wanted))
        return torch.autograd.grad(outputs, inputs, kwargs[COTANGENTS], allow_unused=True)

    return call


def cotangent(output: torch.Tensor) -> torch.Tensor:
    """Return different values for each element, exact in any dtype, so that mixed-up gradients are
    noticed."""
    values = (torch.arange(output.numel()) % 7 + 1).reshape(output.shape) / 4
    return values.to(output.dtype)

"""Other forms of an operator: methods, second gradients, out= of another dtype, and errors."""

from __future__ import annotations

import warnings
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from torch.utils._pytree import tree_map

from diopi_proto.tolerance import OpClass

from ..opinfo.gradients import cotangent
from ..opinfo.operators import Judgement, full_name
from ..opinfo.relocate import Relocation
from ..opinfo.sweep import (
    Arguments,
    Call,
    Outcome,
    Report,
    compare_calls,
    is_random,
    move,
    refusal_problem,
    run,
    samples_of,
    spread,
    tensors_of,
)
from .case import SAMPLES
from .layouts import plain


def methods_of(op: Any) -> dict[str, Any]:
    """Return the other ways to call the operator without writing to an argument."""
    found = {"method": op.method_variant, "operator": op.operator_variant}
    return {name: way for name, way in found.items() if way is not None and way is not op.op}


def check_methods(op: Any, dtype: torch.dtype, device: str) -> Report:
    """Check samples with the method and the Python operator."""
    report = Report(f"{full_name(op)} {dtype} method")
    for at, original in enumerate(samples_of(op, dtype, SAMPLES)):
        for name, way in methods_of(op).items():
            problem, refused = compare_calls(plain(way), original, Judgement.of(op), device)
            report.samples += 1
            report.refused += refused
            report.add(at, original, problem and f"{name}: {problem}")
    return report


def check_second_gradients(op: Any, dtype: torch.dtype, device: str) -> Report:
    """Check gradients of gradients, each with a cotangent of its own."""
    report = Report(f"{full_name(op)} {dtype} gradgrad")
    # Torch does not guarantee strides of gradients.
    judgement = replace(
        Judgement.of(op), op_class=OpClass.REDUCTION, normwise=True, any_strides=True
    )
    torch.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        samples = spread(list(op.sample_inputs("cpu", dtype, requires_grad=True)), SAMPLES)
    for at, sample in enumerate(samples):
        original = (sample.input, tuple(sample.args), dict(sample.kwargs))
        call = partial(_second_gradients, op, sample.output_process_fn_grad)
        problem, refused = compare_calls(call, original, judgement, device)
        report.samples += 1
        report.refused += refused
        report.add(at, original, problem)
    return report


def _second_gradients(op: Any, process: Any, arguments: Arguments) -> Any:
    first, args, kwargs = arguments
    inputs = [tensor for tensor in tensors_of(arguments) if tensor.requires_grad]
    outputs = differentiable(process(op(first, *args, **kwargs)))
    if not inputs or not outputs:
        return []
    options = {"allow_unused": True, "create_graph": True}
    weights = [cotangent(output).to(output.device).requires_grad_() for output in outputs]
    gradients = torch.autograd.grad(outputs, inputs, weights, **options)
    inner = differentiable(gradients)
    if not inner:
        return []
    outer = [cotangent(each).to(each.device) for each in inner]
    return torch.autograd.grad(inner, [*inputs, *weights], outer, allow_unused=True)


def differentiable(tree: Any) -> list[torch.Tensor]:
    """Return the differentiable tensors."""
    return [tensor for tensor in tensors_of(tree) if tensor.requires_grad]


OTHER_TARGET = {torch.float32: torch.int64, torch.int64: torch.bool}
"""Dtypes to which torch does not cast a result of the given dtype."""


def check_out_dtype(op: Any, dtype: torch.dtype, device: str) -> Report:
    """Check ``out=`` of a dtype that results cannot be cast to: behaves like the CPU."""
    report = Report(f"{full_name(op)} {dtype} out= of another dtype")
    call, judgement = plain(op), Judgement.of(op)
    for at, original in enumerate(samples_of(op, dtype, SAMPLES)):
        expected = run(call, Relocation()(original))
        if expected.error is not None or is_random(call, original, expected):
            continue
        first, args, kwargs = original
        out = tree_map(_of_another_dtype, expected.result)
        given = (first, args, {**kwargs, "out": out})
        # The CPU does not define the rounding of converted numbers: only rejection is compared.
        cpu, got = run(call, Relocation()(given)), run(call, move(given, judgement, device))
        report.samples += 1
        report.add(at, given, _out_problem(cpu, got))
    return report


def _of_another_dtype(result: Any) -> Any:
    if not isinstance(result, torch.Tensor):
        return result
    return torch.zeros(result.shape, dtype=OTHER_TARGET.get(result.dtype, torch.bool))


def _out_problem(cpu: Outcome, got: Outcome) -> str | None:
    if cpu.error is not None or got.error is not None:
        return refusal_problem(cpu.error, got.error)
    for have, want in zip(tensors_of(got.result), tensors_of(cpu.result), strict=True):
        if (have.dtype, have.shape) != (want.dtype, want.shape):
            return f"is {have.dtype} {tuple(have.shape)}, want {want.dtype} {tuple(want.shape)}"
    return None


def check_errors(op: Any, dtype: torch.dtype, device: str) -> Report:
    """Check invalid arguments."""
    report = Report(f"{full_name(op)} errors")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wrong = list(op.error_inputs("cpu"))
    for at, each in enumerate(wrong):
        sample = each.sample_input
        original = (sample.input, tuple(sample.args), dict(sample.kwargs))
        report.samples += 1
        report.add(at, original, refusal(plain(op), original, Judgement.of(op), device))
    return report


def refusal(call: Call, original: Arguments, judgement: Judgement, device: str) -> str | None:
    """Return how an error differs from the CPU's, or None if both raise the same type."""
    cpu, got = run(call, Relocation()(original)), run(call, move(original, judgement, device))
    if cpu.error is None and got.error is None:
        return None
    if cpu.error is None or got.error is None:
        return refusal_problem(cpu.error, got.error)
    if not str(got.error):
        return f"raises {type(got.error).__name__} without a message"
    if not isinstance(got.error, type(cpu.error)):
        want = f"{type(cpu.error).__name__}: {str(cpu.error)[:100]}"
        return f"raises {type(got.error).__name__}: {str(got.error)[:100]}, want {want}"
    return None

"""Results and gradients of modules on dl compared with the CPU's."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch
from torch.testing._internal.common_modules import ModuleErrorEnum

from diopi_proto.tolerance import OpClass

from ..opinfo.gradients import cotangent
from ..opinfo.operators import Judgement
from ..opinfo.sweep import Arguments, Call, Report, compare_calls, describe, spread, tensors_of
from .forms import differentiable, refusal
from .layouts import LAYOUTS, changed, expanded, writes

INPUTS = 3
"""Maximum number of inputs of a module in one test."""
JUDGEMENT = Judgement(op_class=OpClass.REDUCTION, normwise=True)
"""Most modules compute long sums, which may cancel."""

Built = tuple[torch.nn.Module, Arguments]
"""A module on the CPU, and its state with the arguments of forward()."""


def built(info: Any, dtype: torch.dtype, *, training: bool = False) -> list[Built]:
    """Return the module for each of its inputs, the same in every run."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.manual_seed(0)
        inputs = info.module_inputs_func(
            info, device="cpu", dtype=dtype, requires_grad=True, training=training
        )
        found = []
        for each in spread([each for each in inputs if each.forward_input is not None], INPUTS):
            torch.manual_seed(0)
            module = construct(info, each.constructor_input, dtype).train(training)
            forward = each.forward_input
            if info.is_lazy:
                with torch.no_grad():
                    module(*copy_of(forward.args), **copy_of(forward.kwargs))
            state = {name: held.detach().clone() for name, held in named_state(module).items()}
            found.append((module, (state, tuple(forward.args), dict(forward.kwargs))))
    return found


def construct(info: Any, wanted: Any, dtype: torch.dtype) -> torch.nn.Module:
    """Return a new module of the dtype on the CPU."""
    module: torch.nn.Module = info.module_cls(*wanted.args, **wanted.kwargs)
    return module.to(dtype)


def copy_of(tree: Any) -> Any:
    return torch.utils._pytree.tree_map(
        lambda leaf: leaf.detach().clone() if isinstance(leaf, torch.Tensor) else leaf, tree
    )


def named_state(module: torch.nn.Module) -> dict[str, torch.Tensor]:
    """Return parameters and buffers by name, including non-persistent ones."""
    return dict([*module.named_parameters(), *module.named_buffers()])


def placed(module: torch.nn.Module, arguments: Arguments) -> torch.nn.Module:
    """Return a copy of the module on the device and in the dtype of the arguments."""
    state = arguments[0]
    floats = [each for each in tensors_of(arguments) if each.is_floating_point()]
    device = next((each.device for each in tensors_of(arguments)), None)
    found = copy.deepcopy(module).to(device=device, dtype=floats[0].dtype if floats else None)
    with torch.no_grad():
        for name, held in named_state(found).items():
            held.copy_(state[name])
    return found


def forward_of(module: torch.nn.Module) -> Call:
    """Return forward(), followed by the buffers afterwards."""

    def call(arguments: Arguments) -> Any:
        here = placed(module, arguments)
        with torch.no_grad():
            result = here(*arguments[1], **arguments[2])
        return result, [held.clone() for _, held in here.named_buffers()]

    return call


def gradients_of(module: torch.nn.Module) -> Call:
    """Return the gradients of parameters and arguments."""

    def call(arguments: Arguments) -> Any:
        here = placed(module, arguments)
        outputs = differentiable(here(*arguments[1], **arguments[2]))
        wanted = [*here.parameters(), *differentiable(arguments[1:])]
        wanted = [each for each in wanted if each.requires_grad]
        if not outputs or not wanted:
            return []
        weights = [cotangent(output).to(output.device) for output in outputs]
        return torch.autograd.grad(outputs, wanted, weights, allow_unused=True)

    return call


def check_forward(info: Any, dtype: torch.dtype, device: str, training: bool) -> Report:
    """Check the results of forward()."""
    return _compare(info, dtype, device, forward_of, training)


def check_backward(info: Any, dtype: torch.dtype, device: str, training: bool) -> Report:
    """Check gradients."""
    return _compare(info, dtype, device, gradients_of, training)


def _compare(
    info: Any,
    dtype: torch.dtype,
    device: str,
    call_of: Callable[[torch.nn.Module], Call],
    training: bool,
) -> Report:
    report = Report(f"{info.name} {dtype}")
    for at, (module, arguments) in enumerate(built(info, dtype, training=training)):
        problem, refused = compare_calls(call_of(module), arguments, JUDGEMENT, device)
        report.samples += 1
        report.refused += refused
        report.add(at, (None, *arguments[1:]), problem)
    return report


def check_layouts(info: Any, dtype: torch.dtype, device: str) -> Report:
    """Check the results of forward() with arguments in every layout."""
    report = Report(f"{info.name} {dtype}")
    # The strides of such a result depend on the kernel.
    judgement = replace(JUDGEMENT, any_strides=True)
    for at, (module, (state, args, kwargs)) in enumerate(built(info, dtype)):
        for name, change in LAYOUTS.items():
            _, laid, named = changed((None, args, kwargs), change)
            arguments = (state, laid, named)
            if change is expanded and writes(forward_of(module), arguments):
                continue
            problem, refused = compare_calls(forward_of(module), arguments, judgement, device)
            report.samples += 1
            report.refused += refused
            report.add(at, (None, *arguments[1:]), problem and f"{name}: {problem}")
    return report


def check_errors(info: Any, dtype: torch.dtype, device: str) -> Report:
    """Check invalid arguments of the constructor or of forward()."""
    report = Report(f"{info.name} errors")
    wrong = info.module_error_inputs_func(
        info, device="cpu", dtype=dtype, requires_grad=False, training=False
    )
    for at, each in enumerate(wrong):
        if each.error_on != ModuleErrorEnum.FORWARD_ERROR:
            continue
        given = each.module_error_input
        module = construct(info, given.constructor_input, dtype)
        state = {name: held.detach().clone() for name, held in named_state(module).items()}
        arguments = (state, tuple(given.forward_input.args), dict(given.forward_input.kwargs))
        report.samples += 1
        problem = refusal(forward_of(module), arguments, JUDGEMENT, device)
        if problem is not None:
            report.problems.append(f"input {at} {describe(arguments)}: {problem}")
    return report

"""Tests of every optimizer in torch's database, with each of its sets of options."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch.testing._internal.common_optimizers import optim_db

from diopi_proto.tolerance import OpClass

from ..opinfo.operators import Judgement
from ..opinfo.sweep import Arguments, Report, compare_calls
from .case import Case, Check
from .transport import saved_and_loaded

STEPS = 3
DTYPES = (torch.float32, torch.float64)
JUDGEMENT = Judgement(op_class=OpClass.REDUCTION, normwise=True)
SHAPES = ((3, 4), (4, 3), (2, 5))
"""Shapes of two dimensions, which Muon requires."""
RATE = 0.01


@dataclass(frozen=True)
class Setting:
    """An optimizer with one set of options."""

    info: Any
    options: dict[str, Any]
    name: str


def settings() -> list[Setting]:
    """Return every optimizer with every set of options in its description."""
    found = []
    for info in optim_db:
        seen: dict[str, int] = {}
        for each in info.optim_inputs_func(device="cpu"):
            told = each.desc.replace(" ", "_").replace("|", "_") or "options"
            seen[told] = seen.get(told, 0) + 1
            mark = told if seen[told] == 1 else f"{told}_{seen[told]}"
            name = f"optim.{info.optim_cls.__name__}[{mark}]"
            found.append(Setting(info, dict(each.kwargs), name))
    return found


def numbers(dtype: torch.dtype, seed: int) -> list[torch.Tensor]:
    """Return one tensor for each shape."""
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=generator, dtype=dtype) for shape in SHAPES]


def arguments_of(dtype: torch.dtype) -> Arguments:
    """Return parameters, and the gradients of each step."""
    return numbers(dtype, 0), tuple(numbers(dtype, 1 + step) for step in range(STEPS)), {}


Between = Callable[[torch.optim.Optimizer, list[Any]], torch.optim.Optimizer]
"""Action on an optimizer before its last step."""


def steps_of(
    setting: Setting,
    *,
    groups: bool = False,
    tensor_rate: bool = False,
    between: Between | None = None,
    **options: Any,
) -> Callable[[Arguments], Any]:
    """Return a function that takes the steps; the parameters and the state are the result."""

    def call(arguments: Arguments) -> Any:
        first, gradients, _ = arguments
        parameters = [torch.nn.Parameter(each.clone()) for each in first]
        given = {**setting.options, **options}
        if tensor_rate:
            given["lr"] = torch.tensor(float(given.get("lr", RATE)), device=first[0].device)
        wanted: Any = parameters
        if groups:
            wanted = [{"params": parameters[:1], "lr": RATE}, {"params": parameters[1:]}]
        optimizer = setting.info.optim_cls(wanted, **given)
        for number, step in enumerate(gradients):
            if number == len(gradients) - 1 and between is not None:
                optimizer = between(optimizer, parameters)
            take_step(setting, optimizer, parameters, step)
        return [each.detach() for each in parameters], state_tensors(optimizer)

    return call


def take_step(
    setting: Setting,
    optimizer: torch.optim.Optimizer,
    parameters: list[torch.nn.Parameter],
    gradients: list[torch.Tensor],
) -> None:
    """Take one step with these gradients."""

    def closure() -> Any:
        for parameter, gradient in zip(parameters, gradients, strict=True):
            sparse = setting.info.only_supports_sparse_grads
            parameter.grad = gradient.to_sparse() if sparse else gradient.clone()
        return torch.stack([each.detach().square().sum() for each in parameters]).sum()

    if setting.info.step_requires_closure:
        optimizer.step(closure)
    else:
        closure()
        optimizer.step()


def state_tensors(optimizer: torch.optim.Optimizer) -> list[Any]:
    """Return the tensors of the state by parameter; step counters may be on any device."""
    found = []
    for group in optimizer.param_groups:
        for parameter in group["params"]:
            state = optimizer.state.get(parameter, {})
            for name in sorted(state):
                if isinstance(state[name], torch.Tensor) and name != "step":
                    found.append(state[name].detach().to(parameter.device))
    return found


def check_steps(setting: Setting, dtype: torch.dtype, device: str, **options: Any) -> Report:
    """Check three steps on dl and on the CPU."""
    return _report(setting, dtype, device, steps_of(setting, **options))


def _report(
    setting: Setting, dtype: torch.dtype, device: str, *calls: Callable[[Arguments], Any]
) -> Report:
    report = Report(f"{setting.name} {dtype}")
    for at, call in enumerate(calls):
        arguments = arguments_of(dtype)
        problem, refused = compare_calls(call, arguments, JUDGEMENT, device)
        report.samples += 1
        report.refused += refused
        report.add(at, arguments, problem)
    return report


def check_zero_grad(setting: Setting, dtype: torch.dtype, device: str) -> Report:
    """Check steps without gradients: set to None, and set to zeros."""

    def cleared(to_none: bool) -> Between:
        def clear(
            optimizer: torch.optim.Optimizer, parameters: list[torch.Tensor]
        ) -> torch.optim.Optimizer:
            optimizer.zero_grad(set_to_none=to_none)
            gone = [each.grad is None or not bool(each.grad.any()) for each in parameters]
            assert all(gone), "zero_grad() left gradients"
            if not setting.info.step_requires_closure:
                optimizer.step()
            return optimizer

        return clear

    calls = [steps_of(setting, between=cleared(to_none)) for to_none in (True, False)]
    return _report(setting, dtype, device, *calls)


def check_state(setting: Setting, dtype: torch.dtype, device: str) -> Report:
    """Check a last step by another optimizer, with the state of the first one."""

    def another(through: Callable[[Any], Any]) -> Between:
        def resume(
            optimizer: torch.optim.Optimizer, parameters: list[torch.Tensor]
        ) -> torch.optim.Optimizer:
            state = through(optimizer.state_dict())
            resumed: torch.optim.Optimizer = setting.info.optim_cls(parameters, **setting.options)
            resumed.load_state_dict(state)
            return resumed

        return resume

    ways = (copy.deepcopy, saved_and_loaded, partial(saved_and_loaded, place="cpu"))
    calls = [steps_of(setting, between=another(way)) for way in ways]
    return _report(setting, dtype, device, *calls)


CHECKS: dict[str, Check] = {
    "single": partial(check_steps, foreach=False),
    "foreach": partial(check_steps, foreach=True),
    "fused": partial(check_steps, fused=True),
    "tensor-lr": partial(check_steps, tensor_rate=True),
    "groups": partial(check_steps, groups=True),
    "zero-grad": check_zero_grad,
    "optimizer-state": check_state,
}


def has(setting: Setting, kind: str) -> bool:
    """Return True if the optimizer has such a form, with these options."""
    implementations = setting.info.supported_impls
    if kind in ("foreach", "fused"):
        return kind in implementations and not any(
            setting.options.get(other) for other in ("differentiable", "foreach", "fused")
        )
    if kind == "single":
        return "foreach" in implementations
    if kind == "tensor-lr":
        return not isinstance(setting.options.get("lr"), torch.Tensor)
    if kind == "groups":
        return bool(setting.info.supports_param_groups)
    return True


def optimizer_cases() -> Iterator[Case]:
    """Yield every optimizer, with every set of options, in every dtype, with every applicable kind
    of check."""
    for kind, check in CHECKS.items():
        for setting in settings():
            for dtype in DTYPES:
                if has(setting, kind):
                    yield Case.of(setting.name, kind, dtype, check, setting)

"""State of modules, and its transfer: between devices, to files, as copies."""

from __future__ import annotations

import copy
import io
import pickle
from collections.abc import Callable
from typing import Any

import torch
from torch.testing._internal.common_modules import ModuleInput

from ..opinfo.relocate import Relocation
from ..opinfo.sweep import Report, run
from .module_results import Built, built, named_state
from .transport import difference, saved_and_loaded

Look = Callable[[Built, str], str | None]
"""Return what is wrong with a CPU module after a move to the device, or None."""


def check_modules(look: Look, info: Any, dtype: torch.dtype, device: str) -> Report:
    """Apply the check to the module for each of its inputs."""
    report = Report(f"{info.name} {dtype}")
    for at, each in enumerate(built(info, dtype)):
        report.samples += 1
        report.add(at, (None, *each[1][1:]), look(each, device))
    return report


def compare_state(
    module: torch.nn.Module, other: torch.nn.Module, device: str, *, strides: bool = True
) -> str | None:
    """Return how the state of a module on the device differs from the state of ``other``, or
    None."""
    have, want = named_state(module), named_state(other)
    if list(have) != list(want):
        return f"holds {list(have)}, want {list(want)}"
    kinds = [type(each) for each in have.values()], [type(each) for each in want.values()]
    if kinds[0] != kinds[1]:
        return f"holds {kinds[0]}, want {kinds[1]}"
    needs = [[each.requires_grad for each in held.values()] for held in (have, want)]
    if needs[0] != needs[1]:
        return f"wants gradients {needs[0]}, want {needs[1]}"
    return difference(list(have.values()), list(want.values()), device, strides=strides)


def _to(each: Built, device: str) -> str | None:
    module = each[0]
    moved = copy.deepcopy(module)
    before = list(moved.parameters())
    moved.to(device)
    problem = compare_state(moved, module, device)
    if problem is not None:
        return f"on dl: {problem}"
    if any(now is not then for now, then in zip(moved.parameters(), before, strict=True)):
        return "its parameters are other objects after to()"
    problem = compare_state(moved.to("cpu"), module, "cpu")
    return problem and f"back on the CPU: {problem}"


def _state_dict(each: Built, device: str) -> str | None:
    module = each[0]
    moved, others = copy.deepcopy(module).to(device), copy.deepcopy(module)
    for held in (*named_state(moved).values(), *named_state(others).values()):
        held.detach().zero_()
    moved.load_state_dict(module.state_dict())
    saved = set(module.state_dict())
    problem = _saved_differ(moved, module, saved, device)
    if problem is not None:
        return f"of the CPU, loaded on dl: {problem}"
    others.load_state_dict(saved_and_loaded(moved.state_dict()))
    problem = _saved_differ(others, module, saved, "cpu")
    return problem and f"of dl, through a file, loaded on the CPU: {problem}"


def _saved_differ(
    module: torch.nn.Module, other: torch.nn.Module, saved: set[str], device: str
) -> str | None:
    have, want = (
        [held for name, held in named_state(each).items() if name in saved]
        for each in (module, other)
    )
    return difference(have, want, device)


def _copies(each: Built, device: str) -> str | None:
    moved = copy.deepcopy(each[0]).to(device)

    def through_a_file(module: torch.nn.Module) -> Any:
        held = io.BytesIO()
        torch.save(module, held)
        held.seek(0)
        return torch.load(held, weights_only=False)

    ways: dict[str, Callable[[torch.nn.Module], Any]] = {
        "deepcopy": copy.deepcopy,
        "pickle": lambda module: pickle.loads(pickle.dumps(module)),
        "torch.save": through_a_file,
    }
    for name, way in ways.items():
        problem = compare_state(way(moved), moved, device)
        if problem is not None:
            return f"{name}: {problem}"
    return None


def _hooks(each: Built, device: str) -> str | None:
    """Record what hooks receive, in the order of the calls."""
    module, arguments = each

    def record_hooks(where: str) -> list[Any]:
        here, (_, args, kwargs) = copy.deepcopy(module).to(where), Relocation(where)(arguments)
        seen: list[Any] = []

        def note(kind: str, *trees: Any) -> None:
            for leaf in torch.utils._pytree.tree_leaves(trees):
                if isinstance(leaf, torch.Tensor):
                    kept = leaf.device.type == torch.device(where).type
                    seen.append((kind, tuple(leaf.shape), leaf.dtype, kept))
            seen.append(kind)

        here.register_forward_pre_hook(lambda _, given: note("before", given))
        here.register_forward_hook(lambda _, given, made: note("after", given, made))
        here.register_full_backward_hook(lambda _, inner, outer: note("backward", inner, outer))
        outcome = run(lambda _: here(*args, **kwargs), arguments)
        flowing = [leaf for leaf in outcome.leaves() if getattr(leaf, "requires_grad", False)]
        if outcome.error is None and flowing:
            torch.autograd.backward(flowing, [torch.ones_like(leaf) for leaf in flowing])
        return [*seen, type(outcome.error).__name__]

    want, got = record_hooks("cpu"), record_hooks(device)
    return None if got == want else f"hooks saw {got}, want {want}"


def check_factory(info: Any, dtype: torch.dtype, device: str) -> Report:
    """Check modules built on the device, and on the CPU."""
    report = Report(f"{info.name} {dtype} factory")
    inputs: list[ModuleInput] = info.module_inputs_func(
        info, device="cpu", dtype=dtype, requires_grad=False, training=False
    )
    for at, each in enumerate(inputs):
        given = each.constructor_input

        def build(where: str, given: Any = given) -> torch.nn.Module:
            options = {**Relocation(where)(given.kwargs), "device": where, "dtype": dtype}
            module: torch.nn.Module = info.module_cls(*Relocation(where)(given.args), **options)
            return module

        report.samples += 1
        report.add(at, (None, given.args, given.kwargs), _built_differ(build, device))
    return report


def _built_differ(build: Callable[[str], torch.nn.Module], device: str) -> str | None:
    """Compare tensors of two built modules; initial values may differ, but must be finite."""
    have, want = named_state(build(device)), named_state(build("cpu"))
    if list(have) != list(want):
        return f"holds {list(have)}, want {list(want)}"
    for name, held in have.items():
        if torch.nn.parameter.is_lazy(held):
            if held.device.type != torch.device(device).type:
                return f"{name} is on {held.device}"
            continue
        if not bool(held.isfinite().all()):
            return f"{name} is not finite"
        problem = difference([held], [torch.empty_like(want[name]).copy_(held)], device)
        if problem is not None:
            return f"{name}: {problem}"
    return None


def check_to(info: Any, dtype: torch.dtype, device: str) -> Report:
    """Move to the device and back."""
    return check_modules(_to, info, dtype, device)


def check_state_dict(info: Any, dtype: torch.dtype, device: str) -> Report:
    """Load a state dict of the CPU on the device, and a state dict of the device on the CPU."""
    return check_modules(_state_dict, info, dtype, device)


def check_copies(info: Any, dtype: torch.dtype, device: str) -> Report:
    """Copy modules on the device."""
    return check_modules(_copies, info, dtype, device)


def check_hooks(info: Any, dtype: torch.dtype, device: str) -> Report:
    """Check hooks on the device and on the CPU."""
    return check_modules(_hooks, info, dtype, device)

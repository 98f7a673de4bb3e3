"""Each kind of device-generic test, with an entry that is wrong on dl and right on the CPU."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.testing._internal.common_methods_invocations import foreach_unary_op_db, op_db
from torch.testing._internal.common_modules import module_db
from torch.testing._internal.common_optimizers import optim_db
from torch.utils._pytree import tree_leaves

from dl_torch_tests.device import foreach, modules, operators, optimizers, transport
from dl_torch_tests.device.case import Check
from dl_torch_tests.device.kinds import FOREACH, KINDS, MODULES, OPERATORS, OPTIMIZERS
from dl_torch_tests.device.optimizers import Setting

pytestmark = pytest.mark.filterwarnings("ignore")

CHECKS: dict[str, Check] = {
    **operators.CHECKS,
    **modules.CHECKS,
    **optimizers.CHECKS,
    **foreach.CHECKS,
}
Patch = pytest.MonkeyPatch


def on_dl(*trees: Any) -> bool:
    """Return True if any of the tensors is on dl."""
    leaves = tree_leaves(trees)
    return any(isinstance(leaf, torch.Tensor) and leaf.device.type == "dl" for leaf in leaves)


def spoil(tree: Any) -> Any:
    """Add one to every number of every tensor, in place."""
    with torch.no_grad():
        for leaf in tree_leaves(tree):
            if isinstance(leaf, torch.Tensor):
                leaf.add_(1)
    return tree


class Steeper(torch.autograd.Function):
    """The identity function with three times the gradient."""

    @staticmethod
    def forward(ctx: Any, tensor: torch.Tensor) -> torch.Tensor:
        return tensor.clone()

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> torch.Tensor:  # type: ignore[override]
        return gradient * 3


def wrong(function: Any, change: Callable[[Any], Any] = spoil) -> Any:
    """Return the function with changed results if any tensor argument is on dl."""

    def call(*args: Any, **kwargs: Any) -> Any:
        result = function(*args, **kwargs)
        if not on_dl(args, kwargs):
            return result
        # In-place operators on lists return nothing.
        return change(args[0]) if result is None else change(result)

    return call


def steeper(tree: Any) -> Any:
    return torch.utils._pytree.tree_map(
        lambda leaf: Steeper.apply(leaf) if isinstance(leaf, torch.Tensor) else leaf, tree
    )


def heedless(function: Any) -> Any:
    """Return a function that rejects nothing on dl, and ignores out=."""

    def call(first: Any, *args: Any, **kwargs: Any) -> Any:
        return kwargs.get("out", first) if on_dl(first, args) else function(first, *args, **kwargs)

    return call


def operator(kind: str) -> Any:
    """Return an operator that is wrong in the aspect that the kind checks."""
    found = copy.copy(
        next(op for op in op_db if op.name == ("gather" if kind == "errors" else "exp"))
    )
    if kind in ("backward", "gradgrad"):
        found.op = wrong(found.op, steeper)
    elif kind == "method":
        found.method_variant = wrong(found.method_variant)
    elif kind == "in-place":
        found.inplace_variant = wrong(found.inplace_variant)
    elif kind in ("errors", "out-dtype"):
        found.op = heedless(found.op)
    elif kind not in LOST:
        found.op = wrong(found.op)
    return found


LOST: dict[str, Callable[[Patch], None]] = {
    "save": lambda patch: patch.setattr(
        transport, "saved_and_loaded", lambda tree, place=None: [leaf.cpu() for leaf in tree]
    ),
    "copy": lambda patch: patch.setattr(transport.copy, "deepcopy", list),
    "dlpack": lambda patch: patch.setattr(transport, "from_dlpack", torch.clone),
}
"""Attributes that tensors lose in transit."""


class Spoilt(torch.nn.Linear):
    def forward(self, input: torch.Tensor) -> torch.Tensor:
        result = super().forward(input)
        return spoil(result) if on_dl(result) else result


class Steep(torch.nn.Linear):
    def forward(self, input: torch.Tensor) -> torch.Tensor:
        result = super().forward(input)
        return Steeper.apply(result) if on_dl(result) else result  # type: ignore[no-any-return]


class Shifted(torch.nn.Linear):
    def _apply(self, fn: Any, recurse: bool = True) -> Any:
        moved = super()._apply(fn, recurse)
        return moved if not on_dl(moved.weight) else (spoil(list(moved.parameters())), moved)[1]


class Unloaded(torch.nn.Linear):
    def load_state_dict(self, *args: Any, **kwargs: Any) -> Any:
        return None if on_dl(self.weight) else super().load_state_dict(*args, **kwargs)


class Miscopied(torch.nn.Linear):
    def __setstate__(self, state: Any) -> None:
        super().__setstate__(state)
        if on_dl(self.weight):
            spoil(list(self.parameters()))


class Elsewhere(torch.nn.Linear):
    def __init__(self, *args: Any, device: Any = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)


class Unhooked(torch.nn.Linear):
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.forward(*args) if on_dl(args) else super().__call__(*args, **kwargs)


class Heedless(torch.nn.RNNCell):
    def forward(self, input: torch.Tensor, hx: torch.Tensor | None = None) -> torch.Tensor:
        return input if on_dl(input) else super().forward(input, hx)


WRONG_MODULES: dict[str, type[torch.nn.Module]] = {
    "train": Spoilt,
    "eval": Spoilt,
    "train-backward": Steep,
    "eval-backward": Steep,
    "module-layouts": Spoilt,
    "module-to": Shifted,
    "state-dict": Unloaded,
    "module-copy": Miscopied,
    "factory": Elsewhere,
    "hooks": Unhooked,
    "module-errors": Heedless,
}


def module(kind: str) -> Any:
    chosen = WRONG_MODULES[kind]
    found = copy.copy(next(info for info in module_db if info.module_cls is chosen.__base__))
    found.module_cls = chosen
    return found


class WrongSGD(torch.optim.SGD):
    def step(self, closure: Any = None) -> Any:
        result = super().step(closure)
        held = [parameter for group in self.param_groups for parameter in group["params"]]
        if on_dl(held):
            spoil(held)
        return result


class Unresumed(torch.optim.SGD):
    def load_state_dict(self, state_dict: Any) -> None:
        if not on_dl([group["params"] for group in self.param_groups]):
            super().load_state_dict(state_dict)


def optimizer(kind: str) -> Setting:
    info = copy.copy(next(each for each in optim_db if each.optim_cls is torch.optim.SGD))
    info.optim_cls = Unresumed if kind == "optimizer-state" else WrongSGD
    return Setting(info, {"lr": 0.1, "momentum": 0.9}, "wrong")


def foreach_operator(kind: str) -> Any:
    found = copy.copy(next(op for op in foreach_unary_op_db if op.name == "_foreach_exp"))
    if kind == "foreach-in-place":
        found.inplace_variant = wrong(found.inplace_variant)
    else:
        found.op = wrong(found.op, steeper if kind == "foreach-backward" else spoil)
    return found


def entry(kind: str) -> Any:
    """Return a database entry that is wrong on dl in the aspect that the kind checks."""
    makers = {operator: OPERATORS, module: MODULES, optimizer: OPTIMIZERS}
    return next((make(kind) for make, has in makers.items() if kind in has), None) or (
        foreach_operator(kind)
    )


def right_entry(kind: str) -> Any:
    """Return the entry from which the wrong one was derived."""
    found = entry(kind)
    if kind in MODULES:
        return next(each for each in module_db if each.module_cls is found.module_cls.__base__)
    if kind in OPTIMIZERS:
        right = next(each for each in optim_db if each.optim_cls is torch.optim.SGD)
        return Setting(right, found.options, "right")
    return next(op for op in (*op_db, *foreach_unary_op_db) if op.name == found.name)


DTYPES = {"gradgrad": torch.float64, "autocast": torch.bfloat16}


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_wrong_is_found(kind: str, vendor: str, monkeypatch: pytest.MonkeyPatch) -> None:
    dtype = DTYPES.get(kind, torch.float32)
    # Otherwise the finding could be an error of the check itself.
    assert not CHECKS[kind](right_entry(kind), dtype, "dl").problems
    wrong_entry = entry(kind)
    if kind in LOST:
        LOST[kind](monkeypatch)
    assert CHECKS[kind](wrong_entry, dtype, "dl").problems


def test_every_kind_has_a_check_and_is_described() -> None:
    assert CHECKS.keys() == KINDS.keys()
    assert FOREACH.keys() == foreach.CHECKS.keys()

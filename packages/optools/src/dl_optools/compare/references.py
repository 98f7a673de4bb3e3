"""References of one call on the CPU, and magnitudes of its results, computed lazily."""

from __future__ import annotations

import functools
from typing import Any

import torch

from diopi_proto.tolerance.torch_operators.conditioning import (
    TRIALS,
    Slopes,
    linear_magnitudes,
    magnitudes,
)
from diopi_proto.tolerance.torch_operators.op_classes import Rule, base_name
from dl_optools.compare.call_comparison import CheckedCall
from dl_optools.compare.subjects import FunctionSubject, NotComparableError, OverloadSubject, Tree
from dl_optools.compare.tolerance_options import ComparisonOptions
from dl_optools.relocation import WIDER, Relocation

SHORT = 0.99
"""Factor for a magnitude that was computed in float32: the product never exceeds the true one."""


class References:
    """References of one call.

    :ivar values: outputs of the device.
    :ivar dtypes: dtypes in which references are computed.
    """

    def __init__(self, call: CheckedCall, options: ComparisonOptions) -> None:
        self.call = call
        self.subject = call.subject
        self.values = [value for _, value in call.answers]
        self.dtypes = {**WIDER, **options.casts(call.name)}

    @functools.cached_property
    def reference(self) -> list[Any]:
        try:
            return self.run(self.dtypes)
        except NotComparableError:
            raise
        except Exception as error:  # noqa: BLE001 - any error on the CPU means: no reference
            if self.peer is not None:
                return self.peer
            text = str(error).splitlines()[0] if str(error) else ""
            raise NotComparableError(f"{type(error).__name__}: {text}"[:200]) from None

    @functools.cached_property
    def peer(self) -> list[Any] | None:
        """Return the CPU's results in the same dtype; None if the CPU does not support the
        dtype."""
        try:
            if self.subject.writes:
                return self.run({})
            return self.subject.run(self.call.tree)
        except NotComparableError:
            raise
        except Exception:  # noqa: BLE001 - as above; float64 may still work
            return None

    def run(self, dtypes: dict[torch.dtype, torch.dtype]) -> list[Any]:
        return self.run_on(dtypes, self.call.tree)

    def run_on(self, dtypes: dict[torch.dtype, torch.dtype], tree: Tree) -> list[Any]:
        return self.subject.run(Relocation(tree, dtypes=dtypes).tree)

    @functools.cached_property
    def linear(self) -> Slopes:
        """Return magnitudes of sums that are linear in each argument."""
        try:
            found = linear_magnitudes(self.subject.run, self.call.tree)
        except Exception:  # noqa: BLE001 - then the reference's absolute value is used
            return [None] * len(self.values)
        return [None if x is None else x.double().mul_(SHORT) for x in found]

    @functools.cached_property
    def perturbed(self) -> Slopes:
        return self._measured(TRIALS)

    @functools.cached_property
    def perturbed_once(self) -> Slopes:
        """Return a smaller or equal magnitude from a third of the work."""
        return self._measured(1)

    def _measured(self, trials: int) -> Slopes:
        def copy() -> tuple[Tree, list[torch.Tensor]]:
            relocation = Relocation(self.call.tree, dtypes=WIDER)
            return relocation.tree, relocation.parts()

        try:
            wide = self.subject.run(copy()[0])
            return magnitudes(self.subject.run, copy, wide, trials)
        except Exception:  # noqa: BLE001 - as above
            return [None] * len(self.values)

    @functools.cached_property
    def rules(self) -> list[Rule]:
        return self.subject.rules(self.call.tree, self.values)

    @property
    def autocast(self) -> torch.dtype | None:
        """Return the dtype that autocast computed in; None without autocast."""
        return self.subject.autocast if isinstance(self.subject, FunctionSubject) else None

    @functools.cached_property
    def operator(self) -> str:
        subject = self.subject
        return base_name(subject.overload) if isinstance(subject, OverloadSubject) else ""

    @functools.cached_property
    def bound(self) -> dict[str, Any]:
        """Return the arguments of an overload by name, with defaults."""
        assert isinstance(self.subject, OverloadSubject)
        args, kwargs = self.call.tree
        own = {x.name: x.default_value for x in self.subject.overload._schema.arguments}
        return {**own, **self.subject.facts.bind(args, kwargs)}

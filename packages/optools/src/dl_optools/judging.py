"""Whether one call's results are right: what is cheap is tried first.

1. Where an operator rounds once or not at all, the CPU's result in the same dtype: bit for bit the
   same is right.
2. The float64 reference with the rounding bound, sums of products with their magnitude.
3. The CPU's own error in that dtype on top.
4. The magnitude that changed arguments show (:mod:`.conditioning`), for results that cancel.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from diopi_proto.tolerance import OpClass
from dl_optools.comparison import (
    OutputComparison,
    compare_tensors,
    compare_values,
    equal_to_peer,
    is_exact_dtype,
    within_bound,
    within_tolerance,
)
from dl_optools.conditioning import Slopes, linear_magnitudes, magnitudes
from dl_optools.names import Level
from dl_optools.op_classes import Rule
from dl_optools.relocation import WIDER, Relocation
from dl_optools.subjects import Answers, NotComparableError, OverloadSubject, Subject, Tree
from dl_optools.tolerance_options import ComparisonOptions

_SIMPLE = (OpClass.EXACT, OpClass.ROUNDING)
_SINGLE = {torch.float16: torch.float32, torch.bfloat16: torch.float32}
SHORT = 0.99
"""Of a magnitude that was computed in float32: never more than it is."""


@dataclass
class CheckedCall:
    """One call that was run on the device, with everything a reference needs, on the CPU.

    :ivar number: the call's :attr:`~.call.OpCall.number`.
    :ivar parent: the Python function around an overload; empty where not known.
    :ivar tree: ``(args, kwargs)`` as they were before the call; for gradients a third part, what
        came into the outputs.
    :ivar answers: what the device returned and wrote.
    :ivar stack: the program's Python stack, innermost line first; empty in backward.
    """

    number: int
    name: str
    level: Level
    subject: Subject
    tree: Tree
    answers: Answers
    backward: bool = False
    parent: str = ""
    module: str = ""
    stack: tuple[Any, ...] = ()


@dataclass(frozen=True)
class CallComparison:
    """The outcome of one call.

    :ivar parts: one for each result, written argument or gradient.
    :ivar reason: why it could not be compared; empty if it was.
    """

    number: int
    name: str
    level: Level
    backward: bool
    parent: str
    module: str
    stack: tuple[Any, ...] = field(repr=False)
    parts: tuple[OutputComparison, ...]
    reason: str = ""

    @property
    def ok(self) -> bool:
        """Nothing is wrong, as far as there was something to compare."""
        return all(part.ok for part in self.parts)

    @property
    def units(self) -> float:
        """The worst of all parts; nan without parts."""
        return max((part.units for part in self.parts), key=nan_first, default=math.nan)

    @property
    def max_abs(self) -> float:
        return max((part.max_abs for part in self.parts), key=nan_first, default=math.nan)

    @property
    def max_rel(self) -> float:
        return max((part.max_rel for part in self.parts), key=nan_first, default=math.nan)

    @property
    def cosine(self) -> float:
        """The smallest of all parts that have one; nan if none has."""
        return min((x.cosine for x in self.parts if not math.isnan(x.cosine)), default=math.nan)

    @property
    def detail(self) -> str:
        """What is wrong, in words."""
        return "\n".join(part.detail for part in self.parts if not part.ok)


def nan_first(value: float) -> float:
    """Key for ``max``: an undefined value never hides another."""
    return -math.inf if math.isnan(value) else value


def judge(call: CheckedCall, options: ComparisonOptions) -> CallComparison:
    """Compare one call with its reference. Never raises for what a reference run raises."""
    parts: Sequence[OutputComparison] = ()
    reason = ""
    try:
        parts = _Judgement(call, options).parts()
    except NotComparableError as error:
        reason = str(error)
    return CallComparison(
        call.number,
        call.name,
        call.level,
        call.backward,
        call.parent,
        call.module,
        call.stack,
        tuple(parts),
        reason,
    )


class _Judgement:
    """The references of one call, each computed when it is first asked for."""

    def __init__(self, call: CheckedCall, options: ComparisonOptions) -> None:
        self.call = call
        self.subject = call.subject
        self.values = [value for _, value in call.answers]
        self.options = options
        self.dtypes = {**WIDER, **(options.casts(call.name) or {})}

    def parts(self) -> list[OutputComparison]:
        if self._is_simple():
            found = [self._as_peer(at) for at in range(len(self.values))]
            if all(part is not None for part in found):
                return [part for part in found if part is not None]
        reference = self.reference
        if len(reference) != len(self.values):
            detail = f"it has {len(self.values)} results, want {len(reference)}"
            return [OutputComparison("results", False, math.inf, detail=detail)]
        parts = [self._part(at) for at in range(len(self.values))]
        return [part for part in parts if part is not None]

    # What the CPU says

    @functools.cached_property
    def reference(self) -> list[Any]:
        try:
            return self._run(self.dtypes)
        except NotComparableError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever the CPU refuses has no such reference
            if self.peer is not None:
                return self.peer
            text = str(error).splitlines()[0] if str(error) else ""
            raise NotComparableError(f"{type(error).__name__}: {text}"[:200]) from None

    @functools.cached_property
    def peer(self) -> list[Any] | None:
        """The CPU's answers in the same dtype; None where it has none."""
        try:
            return self._run({})
        except NotComparableError:
            raise
        except Exception:  # noqa: BLE001 - as above; float64 may still be there
            return None

    def _run(self, dtypes: dict[torch.dtype, torch.dtype]) -> list[Any]:
        return self.subject.run(Relocation(self.call.tree, dtypes=dtypes).tree)

    @functools.cached_property
    def linear(self) -> Slopes:
        """Magnitudes of sums that are linear in each argument."""
        try:
            found = linear_magnitudes(
                self.subject.run, Relocation(self.call.tree, dtypes=_SINGLE).tree
            )
        except Exception:  # noqa: BLE001 - then the reference's modulus has to do
            return [None] * len(self.values)
        return [None if x is None else x.double().mul_(SHORT).nan_to_num_(0, 0, 0) for x in found]

    @functools.cached_property
    def perturbed(self) -> Slopes:
        def copy() -> tuple[Tree, list[torch.Tensor]]:
            relocation = Relocation(self.call.tree, dtypes=WIDER)
            return relocation.tree, relocation.parts()

        try:
            wide = self.subject.run(copy()[0])
            return magnitudes(self.subject.run, copy, wide)
        except Exception:  # noqa: BLE001 - as above
            return [None] * len(self.values)

    @functools.cached_property
    def rules(self) -> list[Rule]:
        return self.subject.rules(self.call.tree, self.values)

    # The verdict

    def _is_simple(self) -> bool:
        """Whether the CPU's result in the same dtype is likely to be the device's."""
        if not isinstance(self.subject, OverloadSubject) or self.subject.is_substitute:
            return False
        tensors = [x for x in self.values if isinstance(x, torch.Tensor)]
        if any(self.options.tolerance(self.call.name, x.dtype) for x in tensors):
            return False
        return all(
            rule.op_class in _SIMPLE or (isinstance(x, torch.Tensor) and is_exact_dtype(x))
            for rule, x in zip(self.rules, self.values, strict=True)
        )

    def _as_peer(self, at: int) -> OutputComparison | None:
        label, got = self.call.answers[at]
        if self.peer is None or len(self.peer) != len(self.values):
            return None
        want = self.peer[at]
        if isinstance(got, torch.Tensor) and isinstance(want, torch.Tensor):
            return equal_to_peer(label, got, want)
        found = compare_values(label, got, want)
        return found if found.ok else None

    def _part(self, at: int) -> OutputComparison | None:
        """None for what has no one right value, or is a device's private matter."""
        label, got = self.call.answers[at]
        want = self.reference[at]
        rule = self.rules[at]
        if not rule.judged or want is None:
            return None
        if not isinstance(got, torch.Tensor) or not isinstance(want, torch.Tensor):
            return compare_values(label, got, want)
        want = want.detach().resolve_conj().resolve_neg()
        if want.layout != torch.strided:
            want = want.to_dense()
        tolerance = self.options.tolerance(self.call.name, got.dtype)
        if tolerance is not None:
            return within_tolerance(label, got, want, tolerance)
        return self._within_bound(at, label, got, want, rule)

    def _within_bound(
        self, at: int, label: str, got: torch.Tensor, want: torch.Tensor, rule: Rule
    ) -> OutputComparison:
        quick = within_bound(label, got, want, rule)
        if quick is not None:
            return quick
        sums = self.linear[at] if rule.linear else None
        if sums is not None:
            quick = within_bound(label, got, want, rule, sums)
            if quick is not None:
                return quick
        found = compare_tensors(label, got, want, rule, sums)
        if found.ok:
            return found
        peer = self.peer[at] if self.peer is not None and at < len(self.peer) else None
        peer = peer.detach() if isinstance(peer, torch.Tensor) else None
        # Where the magnitude is exact and the CPU obeys the bound, nobody needs more.
        exact = sums is not None and peer is not None
        if exact and peer is not None and compare_tensors(label, peer, want, rule, sums).ok:
            return found
        found = compare_tensors(label, got, want, rule, sums, peer)
        if found.ok or rule.op_class is OpClass.EXACT:
            settled = not found.ok and self.subject.settles(self.call.tree, self.values, at)
            return OutputComparison(label, True, 0.0) if settled else found
        if sums is None and at < len(self.perturbed) and self.perturbed[at] is not None:
            found = compare_tensors(label, got, want, rule, self.perturbed[at], peer)
        return found

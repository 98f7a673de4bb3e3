"""Judgement of one call's results, cheapest test first.

1. If an operator rounds once or not at all, compare with the CPU's result in the same dtype: a
   bitwise equal result is right.
2. Compare with the float64 reference and the rounding bound, using the magnitude for sums of
   products.
3. Add the CPU's own error in that dtype.
4. Use the magnitude found by perturbing the arguments
   (:mod:`diopi_proto.tolerance.torch_operators.conditioning`), for results with cancellation.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch

from diopi_proto.tolerance import OpClass
from diopi_proto.tolerance.torch_operators.comparison import (
    OutputComparison,
    compare_tensors,
    compare_values,
    dtype_name,
    equal_to_peer,
    is_exact_dtype,
    same_values,
    to_host,
    within_tolerance,
)
from diopi_proto.tolerance.torch_operators.conditioning import Slopes
from diopi_proto.tolerance.torch_operators.op_classes import Rule
from diopi_proto.tolerance.torch_operators.op_names import UNDEFINED_OUTPUTS
from dl_optools.compare.call_comparison import CallComparison, CheckedCall
from dl_optools.compare.definitions import find_definition
from dl_optools.compare.extremes import settle
from dl_optools.compare.factors import residual_units
from dl_optools.compare.references import References
from dl_optools.compare.screening import Screening, screen, within_bound
from dl_optools.compare.signed_zeros import is_signed, lost_signs
from dl_optools.compare.subjects import (
    FunctionSubject,
    GradientSubject,
    NotComparableError,
    OverloadSubject,
)
from dl_optools.compare.tolerance_options import ComparisonOptions
from dl_optools.compare.undetermined import find_undetermined
from dl_optools.tensors import tensors_of

_SIMPLE = (OpClass.EXACT, OpClass.ROUNDING)


def judge(call: CheckedCall, options: ComparisonOptions) -> CallComparison:
    """Compare one call with its reference. If that raises, the reason replaces the verdict."""
    parts: Sequence[OutputComparison] = ()
    reason = ""
    judgement = _Judgement(call, options)
    try:
        parts = judgement.parts()
    except NotComparableError as error:
        reason = str(error)
    except Exception as error:  # noqa: BLE001 - a tool that observes never stops the program
        reason = f"{type(error).__name__}: {error}"
    if call.overwritten:
        # This check needs no reference.
        parts, reason = [*parts, *map(_describe_overwritten, call.overwritten)], ""
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
        tuple(judgement.unjudged),
    )


def _describe_overwritten(name: str) -> OutputComparison:
    detail = f"argument {name}: the call changed it, and the operator does not write to it"
    return OutputComparison(f"argument {name}", False, math.inf, detail=detail)


class _Judgement(References):
    """Verdicts on the results of one call.

    :ivar unjudged: results, or parts of results, without a unique right value.
    """

    def __init__(self, call: CheckedCall, options: ComparisonOptions) -> None:
        super().__init__(call, options)
        self.options = options
        self.unjudged: list[str] = []
        self._known: dict[int, torch.Tensor] = {}

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

    # The verdict

    def _is_simple(self) -> bool:
        """Return True if the CPU's result in the same dtype likely equals the device's."""
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
            found = equal_to_peer(label, got, want)
            return None if found is None else self._with_signs(at, found)
        found = compare_values(label, got, want)
        return found if found.ok else None

    def _part(self, at: int) -> OutputComparison | None:
        """Compare one result; None if it has no unique right value or a device-specific format."""
        label, got = self.call.answers[at]
        want = self.reference[at]
        rule = self.rules[at]
        if isinstance(got, torch.Tensor) and isinstance(self.subject, OverloadSubject):
            own = self._by_definition(at, got, want)
            if own is not None:
                return own
        if not rule.judged or want is None:
            self._leave(at, label, got)
            return None
        if not isinstance(got, torch.Tensor) or not isinstance(want, torch.Tensor):
            return compare_values(label, got, want)
        want = want.detach().resolve_conj().resolve_neg()
        if want.layout != torch.strided:
            want = want.to_dense()
        found = self._compare(at, label, got, want, rule)
        if not found.ok and self._is_factor(at):
            return OutputComparison(label, True, 0.0)
        return self._with_signs(at, found)

    def _compare(
        self, at: int, label: str, got: torch.Tensor, want: torch.Tensor, rule: Rule
    ) -> OutputComparison:
        problem = self._dtype_problem(at, got)
        if problem is not None:
            return OutputComparison(label, False, math.inf, detail=f"{label}: {problem}")
        tolerance = self.options.tolerance(self.call.name, got.dtype)
        if tolerance is not None:
            return within_tolerance(label, got, want, tolerance)
        found = self._within_bound(at, label, got, want, rule)
        if not found.ok:
            runs = [functools.partial(self.run_on, dtypes) for dtypes in (self.dtypes, {})]
            other = settle(runs, self.call.tree, at, got, want, rule)
            if other is None:
                other = self._replace_undetermined(at, label, got, want, rule)
            if other is not None:
                honest, got = found, other
                found = self._within_bound(at, label, got, want, rule)
                found = replace(found, max_abs=honest.max_abs, max_rel=honest.max_rel)
        low = self.autocast
        if found.ok or low is None or torch.finfo(low).eps <= _eps(got):
            return found
        if isinstance(self.subject, GradientSubject) or same_values(got.to(low).to(got.dtype), got):
            # The result was computed in the narrower dtype, even if it was converted at the end.
            return self._within_bound(at, label, got.to(low), want, rule)
        if isinstance(self.subject, FunctionSubject) and self.subject.may_keep(low, self.call.tree):
            narrow = math.ceil(torch.finfo(low).eps / _eps(got))
            inner = replace(rule, roundings=max(rule.roundings, 1) * narrow)
            return self._within_bound(at, label, got, want, inner)
        return found

    def _replace_undetermined(
        self, at: int, label: str, got: torch.Tensor, want: torch.Tensor, rule: Rule
    ) -> torch.Tensor | None:
        """Return the result with the reference's undetermined elements; None: it has none."""
        peer, sums = self._peer_of(at, got), self._sums(at)
        free = find_undetermined(self.subject.run, self.call.tree, at, got, want, peer, rule, sums)
        count = int(free.sum())
        if not count:
            return None
        self.unjudged.append(
            f"{label}: {dtype_name(got.dtype)} itself overflows, or has no correct digit, in some "
            "elements"
        )
        return torch.where(free, want.to(got.dtype), got)

    def _by_definition(self, at: int, got: torch.Tensor, want: Any) -> OutputComparison | None:
        """Judge a result that the operator's gradient reads; None: use the reference."""
        label, name, bound = self.call.answers[at][0], self.operator, self.bound
        units = residual_units(name, bound, self.values, at) if not self.rules[at].judged else None
        if units is not None:
            detail = f"{label}: the residual of the factors is {units:.3g} x the allowed one"
            return OutputComparison(label, units <= 1, units, detail="" if units <= 1 else detail)
        own = find_definition(name, bound, at, got, want)
        if own is None:
            return None
        value, known = own
        if name.endswith("_backward") and not bool(known.all()):
            self.unjudged.append(f"{label}: some scores have no digit in {dtype_name(got.dtype)}")
        if not bool(known.any()):
            return OutputComparison(label, True, 0.0)
        if value.shape == got.shape:
            # Elements without a definition are uninitialised, on the CPU as well.
            self._known[at] = known
            got, value = (torch.where(known, x, torch.zeros_like(x)) for x in (got, value))
        rule = self.rules[at] if self.rules[at].judged else self.rules[0]
        if not (got.is_floating_point() or got.is_complex()):
            rule = Rule(OpClass.EXACT)
        return self._compare(at, label, got, value.detach(), rule)

    def _leave(self, at: int, label: str, got: Any) -> None:
        """Note a result that has no reference, unless it is empty."""
        has_elements = isinstance(got, torch.Tensor) and got.numel() > 0
        if has_elements and isinstance(self.subject, OverloadSubject):
            returns = self.subject.overload._schema.returns
            name = returns[at].name if at < len(returns) else None
            mask = self.bound.get("output_mask") or self.bound.get("grad_input_mask")
            if mask is not None and at < len(mask) and not mask[at]:
                return
            # The state of a generator that draws nothing.
            if name in UNDEFINED_OUTPUTS:
                return
            self.unjudged.append(f"{label}{f' ({name})' if name else ''} has the device's format")

    def _is_factor(self, at: int) -> bool:
        """Return True if a factor is as accurate as the CPU's, with other signs or other pivots."""
        if not isinstance(self.subject, OverloadSubject):
            return False
        units = residual_units(self.operator, self.bound, self.values, at)
        return units is not None and units <= 1

    def _with_signs(self, at: int, found: OutputComparison) -> OutputComparison:
        """Return the comparison, or a failure if zeros have lost their sign."""
        got = self.values[at]
        if not found.ok or not isinstance(self.subject, OverloadSubject):
            return found
        if not is_signed(self.operator) or not isinstance(got, torch.Tensor):
            return found
        if self.subject.is_substitute or not bool((got == 0).any()):
            return found
        peer = self._peer_of(at, got)
        lost = "" if peer is None else lost_signs(self.operator, self.bound, got, peer)
        if not lost:
            return found
        return replace(found, ok=False, units=math.inf, detail=f"{found.output}: {lost}")

    def _dtype_problem(self, at: int, got: torch.Tensor) -> str | None:
        """Check the dtype of the first result; statistics may have a dtype of the device."""
        if self.autocast is not None:
            # Autocast chooses the dtype of each function by device.
            return None
        given = {x.dtype for x in tensors_of(self.call.tree) if x.is_floating_point()}
        if at > 0 or given == {got.dtype} or self.peer is None:
            return None
        peer = self.peer[at]
        if not isinstance(peer, torch.Tensor) or peer.dtype == got.dtype:
            return None
        return f"dtype is {dtype_name(got.dtype)}, want {dtype_name(peer.dtype)}"

    def _within_bound(
        self, at: int, label: str, got: torch.Tensor, want: torch.Tensor, rule: Rule
    ) -> OutputComparison:
        if rule.op_class is OpClass.EXACT:
            return within_bound(label, got, want, rule) or self._compare_completely(
                at, label, got, want, rule
            )
        screening = screen(label, got, want, rule)
        if screening is None:
            return self._compare_completely(at, label, got, want, rule)
        return (
            screening.outcome
            or self._by_magnitude(at, screening)
            or self._by_peer(at, screening, got, want, rule)
            or self._by_change(at, screening)
            or self._compare_completely(at, label, got, want, rule)
        )

    # Quick checks that a result is right

    def _by_magnitude(self, at: int, screening: Screening) -> OutputComparison | None:
        sums = self._sums(at)
        return None if sums is None else screening.clear(sums)

    def _by_peer(
        self, at: int, screening: Screening, got: torch.Tensor, want: torch.Tensor, rule: Rule
    ) -> OutputComparison | None:
        peer = self._peer_of(at, got)
        if peer is None:
            return None
        found = screening.clear_equal(peer)
        if found is not None or self._has_own_bound(at, peer, want, rule):
            return found
        return screening.clear(self._sums(at), peer)

    def _by_change(self, at: int, screening: Screening) -> OutputComparison | None:
        if self._sums(at) is not None:
            return None
        peer = self._peer_of(at, self.values[at])
        for measured in ("perturbed_once", "perturbed"):
            slopes: Slopes = getattr(self, measured)
            scale = slopes[at] if at < len(slopes) else None
            found = None if scale is None else screening.clear(scale, peer)
            if found is not None:
                return found
        return None

    # Data of the checks

    def _sums(self, at: int) -> torch.Tensor | None:
        return self.linear[at] if self.rules[at].linear and at < len(self.linear) else None

    def _peer_of(self, at: int, got: torch.Tensor) -> torch.Tensor | None:
        peer = self.peer[at] if self.peer is not None and at < len(self.peer) else None
        if not isinstance(peer, torch.Tensor) or (peer.dtype, peer.shape) != (got.dtype, got.shape):
            return None
        known = self._known.get(at)
        if known is not None:
            return torch.where(known, peer, torch.zeros_like(peer))
        return to_host(peer)

    def _has_own_bound(self, at: int, peer: torch.Tensor, want: torch.Tensor, rule: Rule) -> bool:
        """Return True if the magnitude is exact and the CPU obeys the bound."""
        sums = self._sums(at)
        return sums is not None and compare_tensors("", peer, want, rule, sums).ok

    def _compare_completely(
        self, at: int, label: str, got: torch.Tensor, want: torch.Tensor, rule: Rule
    ) -> OutputComparison:
        """Run the complete comparison, which decides."""
        sums, peer = self._sums(at), self._peer_of(at, got)
        found = compare_tensors(label, got, want, rule, sums)
        if found.ok or (peer is not None and self._has_own_bound(at, peer, want, rule)):
            return found
        found = compare_tensors(label, got, want, rule, sums, peer)
        if not found.ok and self.subject.settles(self.call.tree, self.values, at):
            return OutputComparison(label, True, 0.0)
        if found.ok or rule.op_class is OpClass.EXACT or sums is not None:
            return found
        scale = self.perturbed[at] if at < len(self.perturbed) else None
        return found if scale is None else compare_tensors(label, got, want, rule, scale, peer)


def _eps(tensor: torch.Tensor) -> float:
    """Return the epsilon of the dtype; 1 for integers, which have no wider dtype."""
    numbers = tensor.is_floating_point() or tensor.is_complex()
    return torch.finfo(tensor.dtype).eps if numbers else 1.0

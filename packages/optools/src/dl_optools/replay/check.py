"""Check of a replayed call: of the results of this run, and of the recorded results.

Both are judged as autocompare judges calls, see :mod:`.compare.judging`. Without a reference, they
are compared with each other.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import torch

from diopi_proto.tolerance.torch_operators.comparison import (
    OutputComparison,
    compare_tensors,
    compare_values,
    dtype_name,
)
from diopi_proto.tolerance.torch_operators.op_classes import Rule, draws
from diopi_proto.tolerance.torch_operators.schema import Overload
from dl_optools.bundle.errors import BundleError
from dl_optools.bundle.reader import Bundle
from dl_optools.bundle.restore import default_dtype
from dl_optools.bundle.values import dtype_of
from dl_optools.compare.call_comparison import CheckedCall
from dl_optools.compare.judging import judge
from dl_optools.compare.tolerance_options import ComparisonOptions
from dl_optools.environment import environment
from dl_optools.names import short_name
from dl_optools.on_host import on_one_thread
from dl_optools.replay.calls import BundleCalls, Pair
from dl_optools.replay.run import Outcome, is_random, run


@dataclass(frozen=True)
class PartCheck:
    """One result, written argument or gradient.

    :ivar name: name in autocompare: ``output 0``, ``argument self``, ``gradient of input 1``.
    :ivar here: largest error of this run in units of the bound, or of the tolerance that a variable
        sets instead; nan if nothing was compared.
    :ivar recorded: largest error of the recording.
    :ivar detail: description of what is wrong; empty if nothing is.
    :ivar only_recorded: only the recording has it.
    :ivar max_abs: largest absolute error of this run; nan if nothing was compared.
    """

    name: str
    here: float = math.nan
    recorded: float = math.nan
    detail: str = ""
    only_recorded: bool = False
    max_abs: float = math.nan

    @property
    def ok(self) -> bool:
        return not self.detail


@dataclass
class CheckResult:
    """Outcome of one check.

    :ivar notes: what could not be checked, and why.
    """

    parts: list[PartCheck] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        return all(part.ok for part in self.parts)


def check(
    bundle: Bundle,
    device: torch.device | str = "cpu",
    *,
    backward: bool = True,
    options: ComparisonOptions | None = None,
) -> CheckResult:
    """Replay a call once and judge the results and the recording.

    :param options: tolerances instead of the bound; None: those of the variables.
    :raises BundleError: nothing was recorded to compare with, or see :func:`.replay.run.run`.
    :raises OptionError: a variable has an invalid value.
    """
    document = bundle.document
    if document.error is not None:
        raise BundleError(
            f"[bundle] {bundle.path}: the captured call raised {document.error!r}; there is no "
            "result to compare with"
        )
    device = torch.device(device)
    options = options or ComparisonOptions(environment())
    found = CheckResult()
    outcome = run(bundle, device, backward=backward)
    calls = BundleCalls(bundle, outcome)
    pairs = [calls.forward()]
    gradients = calls.backward() if backward else None
    if gradients is not None:
        pairs.append(gradients)
    elif backward and document.context["grad"] and any(x.requires_grad for x in outcome.inputs):
        found.notes.append("no gradients were captured")
    comparable = _comparable(bundle, device, found.notes)
    random = comparable and _draws(bundle, outcome)
    if random:
        found.notes.append("it draws random numbers: there is no reference in float64")
    # Use one thread as autocompare does: splitting sums on the CPU changes their last digits.
    with on_one_thread(), default_dtype(dtype_of(document.context["default_dtype"], "context")):
        for pair in pairs:
            found.parts += [PartCheck(name, detail=text) for name, text in pair.missing.items()]
            if not comparable:
                found.parts += _compare_kinds(pair)
            elif random:
                found.parts += _compare_directly(pair)
            else:
                found.parts += _judge(pair, options, found.notes)
    return found


def _comparable(bundle: Bundle, device: torch.device, notes: list[str]) -> bool:
    document = bundle.document
    # `empty`, `empty_like`, `new_empty`: uninitialised memory.
    if "EMPTY" in short_name(document.operator):
        notes.append("its result is uninitialised: only shape and dtype are compared")
        return False
    if is_random(bundle) and device.type != document.device:
        notes.append(
            f"it draws random numbers, and {device.type} draws different numbers than "
            f"{document.device}: "
            "only shapes and dtypes are compared"
        )
        return False
    return True


def _draws(bundle: Bundle, outcome: Outcome) -> bool:
    function = bundle.function
    return is_random(bundle) or (
        isinstance(function, Overload) and draws(function, outcome.args, outcome.kwargs)
    )


def _judge(pair: Pair, options: ComparisonOptions, notes: list[str]) -> list[PartCheck]:
    """Return autocompare's verdict on both."""
    if not pair.here.answers:
        return []
    here, recorded = judge(pair.here, options), judge(pair.recorded, options)
    if here.reason or recorded.reason:
        notes.append(
            f"there is no reference: {here.reason or recorded.reason}; this run is compared with "
            "the recording"
        )
        return _compare_directly(pair)
    mine = {part.output: part for part in here.parts}
    theirs = {part.output: part for part in recorded.parts}
    parts = []
    for name in dict.fromkeys([*_labels(pair.here), *_labels(pair.recorded), *mine, *theirs]):
        if name in pair.missing:
            continue
        one, two = (side.get(name, OutputComparison(name, True)) for side in (mine, theirs))
        detail = [_text(one, "here"), _text(two, "as recorded")]
        text = "\n".join(filter(None, detail))
        only_recorded = one.ok and not two.ok
        parts.append(PartCheck(name, one.units, two.units, text, only_recorded, one.max_abs))
    return parts


def _text(part: OutputComparison, where: str) -> str:
    if part.ok:
        return ""
    return f"{part.output} {where}{part.detail.removeprefix(part.output)}"


def _labels(call: CheckedCall) -> list[str]:
    return [label for label, value in call.answers if value is not None]


def _compare_kinds(pair: Pair) -> list[PartCheck]:
    """Compare shapes and dtypes only."""
    return [
        PartCheck(label, detail=_kinds(label, got, want))
        for label, got, want in _pair_answers(pair)
    ]


def _compare_directly(pair: Pair) -> list[PartCheck]:
    """Compare this run with the recording, which may also be off by the bound."""
    rules = pair.here.subject.rules(pair.here.tree, [value for _, value in pair.here.answers])
    by_label = dict(zip((label for label, _ in pair.here.answers), rules, strict=True))
    parts = []
    for label, got, want in _pair_answers(pair):
        detail = _kinds(label, got, want)
        part = OutputComparison(label, not detail, math.nan, detail=detail)
        if not detail:
            part = _compare(label, got, want, by_label[label])
        parts.append(PartCheck(label, part.units, detail=part.detail, max_abs=part.max_abs))
    return parts


def _compare(label: str, got: Any, want: Any, rule: Rule) -> OutputComparison:
    if not isinstance(got, torch.Tensor):
        return compare_values(label, got, want)
    if not rule.judged:
        return OutputComparison(label, True)
    try:
        return compare_tensors(label, got, want, rule)
    except TypeError:
        # The bound is undefined for this dtype.
        same = got.contiguous().view(torch.uint8).equal(want.contiguous().view(torch.uint8))
        detail = "" if same else f"{label}: differs from the recording"
        return OutputComparison(label, same, 0.0 if same else math.inf, detail=detail)


def _pair_answers(pair: Pair) -> list[tuple[str, Any, Any]]:
    recorded = dict(pair.recorded.answers)
    return [
        (label, value, recorded[label])
        for label, value in pair.here.answers
        if label in recorded and value is not None
    ]


def _kinds(label: str, got: Any, want: Any) -> str:
    kinds = [_kind(x) for x in (got, want)]
    return "" if kinds[0] == kinds[1] else f"{label}: {kinds[0]} here, {kinds[1]} recorded"


def _kind(value: Any) -> str:
    if isinstance(value, torch.Tensor):
        return f"{dtype_name(value.dtype)}{list(value.shape)}"
    return type(value).__name__

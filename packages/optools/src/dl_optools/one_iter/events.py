"""Judgement of the values of one event: whether the event itself caused a difference."""

from __future__ import annotations

import math
from collections.abc import Iterator

import torch

from diopi_proto.tolerance.torch_operators.comparison import OutputComparison
from dl_optools.one_iter.bound import compare_with_bound
from dl_optools.one_iter.folder import Reader, Record
from dl_optools.one_iter.values import BOUND, RELATIVE, Value

Common = tuple[str, str, str, str, int, str]


class Events:
    """Judges the events of a step under test, in their order.

    An operator is held to the rounding bound of the CPU's float64 for its *own* inputs: earlier
    errors do not count. Modules, gradients and weights are results of operators: if these operators
    are right, a distance to the trusted step is inherited.

    :param tolerance: relative; None: the square root of the dtype's epsilon.
    :ivar drew_differently: a random event drew different numbers than in the trusted step.
    :ivar has_operators: operators were recorded, not only modules.
    """

    def __init__(self, want: Reader, got: Reader, tolerance: float | None) -> None:
        self._want, self._got, self._tolerance = want, got, tolerance
        self.drew_differently = False
        self.has_operators = any(x.kind == "operator" for x in got.records)
        self._judged: dict[tuple[str, str, str, int, str], dict[str, OutputComparison]] = {}
        self._right: set[str] = set()
        self._weights = {x.name: x.outputs["value"] for x in got.records if x.kind == "weight"}

    def note_random(self, record: Record, other: Record) -> None:
        """Process a random event."""
        self.drew_differently |= record.outputs != other.outputs

    def judge(self, record: Record | None, other: Record) -> None:
        """Compare an operator with its bound, if its results differ from the trusted ones."""
        if not other.outputs:
            return
        if record is None or record.outputs != other.outputs:
            parts = compare_with_bound(self._got, other)
            found = {place: part for place, part in parts.items() if place in other.outputs}
            self._judged[other.key] = found
            self._right.update(other.outputs[x] for x, part in found.items() if part.ok)
        else:
            self._right.update(other.outputs.values())

    def of_step(self, other: Record) -> Iterator[Value]:
        """Yield the values of an operator of an optimizer's step without a counterpart."""
        for place, part in self._judged.get(other.key, {}).items():
            yield Value(*_common(other), place, _units(part), BOUND, 1.0, _why(part))

    def values(self, record: Record, other: Record) -> Iterator[Value]:
        """Yield all values of an event that both steps have."""
        bounded = self._judged.get(other.key, {})
        common = _common(record)
        for place, name in record.outputs.items():
            theirs = other.outputs.get(place)
            if theirs is None:
                yield Value(*common, place, math.inf, RELATIVE, 0.0, "it is missing")
            elif theirs == name:
                yield Value(*common, place, 0.0, RELATIVE, 0.0)
            elif place in bounded:
                part = bounded[place]
                yield Value(*common, place, _units(part), BOUND, 1.0, _why(part))
            else:
                pair = self._want.tensor(name), self._got.tensor(theirs)
                value = relative(common, place, *pair, self._tolerance)
                if not value.ok and self._inherits(record, other, place, theirs):
                    value = Value(
                        *common, place, value.error, RELATIVE, value.limit, value.detail, True
                    )
                yield value

    def model_inputs(self, record: Record, other: Record) -> Iterator[Value]:
        """Yield the model's inputs that no operator of the step computed."""
        made = {
            x
            for each in self._got.records
            if each.kind == "operator" and each.phase == "forward"
            for x in each.outputs.values()
        }
        for place, name in record.inputs.items():
            theirs = other.inputs.get(place, name)
            if theirs == name or theirs in made:
                continue
            common = ("input of the model", "input", "", "", 0, "forward")
            pair = self._want.tensor(name), self._got.tensor(theirs)
            yield relative(common, place, *pair, self._tolerance)

    def _inherits(self, record: Record, other: Record, place: str, name: str) -> bool:
        if self.drew_differently:
            return True
        # A user who sets a tolerance wants the distance, whatever its cause.
        if not self.has_operators or self._tolerance is not None:
            return False
        # Initial weights were not computed in the step.
        if record.kind == "weight":
            return False
        if name in self._right:
            return True
        if record.kind == "operator":
            return bool(self._judged.get(other.key)) or self._inputs_are_off(record, other)
        if record.kind == "weight gradient":
            return self._is_sum(record.name, self._got.tensor(name))
        if not self._all_right(record):
            return False
        if record.kind == "weight after":
            return self._gradient_differs(record.name)
        return True

    def _inputs_are_off(self, record: Record, other: Record) -> bool:
        for place, name in record.inputs.items():
            theirs = other.inputs.get(place, name)
            if theirs != name:
                pair = self._want.tensor(name), self._got.tensor(theirs)
                if not relative(_common(record), place, *pair, self._tolerance).ok:
                    return True
        return False

    def _all_right(self, record: Record) -> bool:
        """Return True if no operator within a module, or in an optimizer's step, was wrong."""
        module = "" if record.kind == "weight after" else record.name
        for (_, inside, _, _, phase), parts in self._judged.items():
            within = not module or inside == module or inside.startswith(module + ".")
            concerns = phase == "step" if record.kind == "weight after" else within
            if concerns and not all(part.ok for part in parts.values()):
                return False
        return True

    def _gradient_differs(self, name: str) -> bool:
        key = Record("weight gradient", name, phase="backward").key
        pair = self._want.find(key), self._got.find(key)
        return any(x is None for x in pair) or pair[0].outputs != pair[1].outputs  # type: ignore[union-attr]

    def _is_sum(self, weight: str, value: torch.Tensor) -> bool:
        """Return True if a weight's gradient is the sum of the operators' gradients for it."""
        parts: list[tuple[str, torch.Tensor]] = []
        for back in self._got.records:
            if back.kind != "operator" or back.phase != "backward":
                continue
            forward = self._got.find(Record(back.kind, back.name, back.module, back.call).key)
            inputs = {} if forward is None else forward.inputs
            # If several arguments are the same tensor, each has the whole gradient.
            same = [x for x, name in inputs.items() if name == self._weights.get(weight)]
            names = dict.fromkeys(back.outputs.get(f"gradient of {x}", "") for x in same)
            parts += [(back.module, self._got.tensor(x)) for x in names if x]
        own = [x for module, x in parts if module == weight.rpartition(".")[0]]
        candidates = [[x for _, x in parts], own, *([x] for _, x in parts)]
        return any(_close(value, each) for each in candidates if each)


def _close(value: torch.Tensor, parts: list[torch.Tensor]) -> bool:
    if any(x.shape != value.shape for x in parts):
        return False
    wide = torch.complex128 if value.is_complex() else torch.float64
    total = torch.stack([x.to(wide) for x in parts]).sum(0)
    size = float(torch.stack([x.to(wide).abs() for x in parts]).sum(0).max()) if len(total) else 0
    allowed = math.sqrt(torch.finfo(value.dtype).eps) * size
    return bool(((value.to(wide) - total).abs() <= allowed).all())


def _common(record: Record) -> Common:
    return (str(record), record.kind, record.name, record.module, record.call, record.phase)


def _units(part: OutputComparison) -> float:
    units = part.units if part.ok or part.units > 1 else math.inf
    return 0.0 if math.isnan(units) else units


def _why(part: OutputComparison) -> str:
    """Describe results that are wrong in shape, dtype or finiteness rather than in values."""
    return "" if part.ok or math.isfinite(part.units) else " ".join(part.detail.split())


def relative(
    common: Common, place: str, want: torch.Tensor, got: torch.Tensor, tolerance: float | None
) -> Value:
    """Return the largest distance in units of the trusted tensor's largest value."""
    if want.shape != got.shape:
        detail = f"its shape is {tuple(got.shape)}, want {tuple(want.shape)}"
        return Value(*common, place, math.inf, RELATIVE, 0.0, detail)
    numbers = got.is_floating_point() or got.is_complex()
    if not numbers:
        wrong = int((want != got).sum())
        detail = f"{wrong} of {got.numel()} elements differ"
        return Value(*common, place, float(wrong), RELATIVE, 0.0, detail if wrong else "")
    limit = math.sqrt(torch.finfo(got.dtype).eps) if tolerance is None else tolerance
    wide = torch.complex128 if got.is_complex() else torch.float64
    left, right = want.to(wide), got.to(wide)
    finite = left.isfinite() & right.isfinite()
    same = (left == right) | (left.isnan() & right.isnan())
    bad = int((~finite & ~same).sum())
    if bad:
        detail = f"nan or inf in {bad} of {got.numel()} elements where the trusted step has others"
        return Value(*common, place, math.inf, RELATIVE, limit, detail)
    left, right = left[finite], right[finite]
    difference = float((left - right).abs().max()) if left.numel() else 0.0
    size = float(left.abs().max()) if left.numel() else 0.0
    error = 0.0 if difference == 0 else (difference / size if size else math.inf)
    return Value(*common, place, error, RELATIVE, limit)

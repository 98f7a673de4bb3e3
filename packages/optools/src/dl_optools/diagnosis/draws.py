"""Tests of what random operators draw.

Each call: that every value can be drawn, that the same state of the generator gives the same
numbers again and the state moves on, that draws follow their law, that rows, neighbours and earlier
calls do not repeat each other. Once for each law more draws are made with the same parameters, from
a state that is put back: the program's numbers stay what they are.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping
from typing import Any

import torch

from dl_core.torch_backend.judging.comparison import dtype_name, same_values, to_host
from dl_core.torch_backend.judging.op_classes import base_name
from dl_core.torch_backend.judging.schema import Overload, signature
from dl_core.torch_backend.judging.tensors import tensors_of
from dl_optools.diagnosis.call_laws import drawing_of, drawn_values, law_of
from dl_optools.diagnosis.draw_history import DrawHistory
from dl_optools.diagnosis.generators import GeneratorState
from dl_optools.diagnosis.independence import correlation, repetition
from dl_optools.diagnosis.laws import Law
from dl_optools.diagnosis.masked import product_problem

Tensor = torch.Tensor
Run = Callable[[], Any]

SAMPLE = 1 << 16
"""Draws that are looked at besides those of the program, and of a call at most."""
ROWS = 64
"""Rows of these draws."""


class DrawChecks:
    """Remembers the draws of a program, operator by operator."""

    def __init__(self) -> None:
        self._histories: dict[str, DrawHistory] = {}
        self._sampled: set[tuple[str, ...]] = set()
        self._ends: dict[str, bytes] = {}
        # The tests' own noise: the same in each run, and no generator of the program's.
        self._noise = torch.Generator().manual_seed(0x5EED)

    def call(
        self,
        name: str,
        number: int,
        overload: Overload[Any, Any],
        bound: Mapping[str, Any],
        proceed: Run,
        *,
        repeat: bool,
    ) -> tuple[Any, str | None]:
        """Run a call and test it.

        :param proceed: runs it.
        :param repeat: run it twice, from one state of the generator.
        :returns: the result, and what is wrong; empty: nothing; None: its law is not known.
        """
        generator = GeneratorState(bound, _device(bound))
        before = generator.read()
        result = proceed()
        after = generator.read()
        base = base_name(overload)
        drawn = drawn_values(base, bound, result)
        law = None if drawn is None else law_of(base, bound, drawn)
        if drawn is None or law is None:
            return result, None
        values = to_host(drawn).clone()
        problem = law.outside(values) or product_problem(base, bound, result)
        problem = problem or self._state(law, values, before, after)
        if repeat and not problem:
            again = self._again(generator, before, after, overload, bound, proceed)
            if not same_values(again, values):
                problem = "from the same state of the generator it draws other numbers"
        if not problem:
            problem = self._against_others(name, number, law, values, _key(before), generator.name)
        self._ends[generator.name] = _key(after)
        if not problem:
            key = (name, law.text, dtype_name(values.dtype))
            if key not in self._sampled:
                self._sampled.add(key)
                problem = self._sample(overload, base, bound, drawn, generator)
        return result, f"{problem} (call {number}, {law.text})" if problem else ""

    def _state(self, law: Law, values: Tensor, before: Tensor, after: Tensor) -> str:
        if values.numel() and law.varies and torch.equal(before, after):
            return "it leaves the state of the generator as it was: the next call draws the same"
        return ""

    def _again(
        self,
        generator: GeneratorState,
        before: Tensor,
        after: Tensor,
        overload: Overload[Any, Any],
        bound: Mapping[str, Any],
        proceed: Run,
    ) -> Tensor:
        """The draws of another call from the same state; what it writes becomes what it was."""
        written = tensors_of(*[bound.get(x) for x in signature(overload).written])
        originals = [x.detach().clone() for x in written]
        try:
            generator.write(before)
            found = drawn_values(base_name(overload), bound, proceed())
            assert found is not None
            return to_host(found).clone()
        finally:
            generator.write(after)
            with torch.no_grad():
                for each, original in zip(written, originals, strict=True):
                    each.copy_(original)

    def _against_others(
        self, name: str, number: int, law: Law, values: Tensor, state: bytes, generator: str
    ) -> str:
        history = self._histories.setdefault(name, DrawHistory())
        if self._ends.get(generator) != state:
            for each in self._histories.values():
                each.restart()
        law, values = first_draws(law, values)
        entropy = law.entropy(values.shape)
        uniforms = self._uniforms(law, values)
        scores = (uniforms - 0.5) * math.sqrt(12)
        problem = (
            repetition(values, entropy)
            or correlation(scores)
            or history.again(values, entropy, state, number)
            or history.alike(scores, state, number)
        )
        if problem:
            return problem
        found = history.add(uniforms, slack_of(law, values))
        return f"draws do not follow their law: {found}" if found else ""

    def _uniforms(self, law: Law, values: Tensor) -> Tensor:
        noise = torch.rand(values.shape, dtype=torch.float64, generator=self._noise)
        return law.uniforms(values, noise)

    def _sample(
        self,
        overload: Overload[Any, Any],
        base: str,
        bound: Mapping[str, Any],
        drawn: Tensor,
        generator: GeneratorState,
    ) -> str:
        """Many draws with the same parameters, twice from one state."""
        given = enlarged(base, bound, drawn)
        names = [x.name for x in overload._schema.arguments if not x.kwarg_only]

        def draw() -> tuple[Tensor, Mapping[str, Any]]:
            own = {key: x.clone() if isinstance(x, Tensor) else x for key, x in given.items()}
            keywords = {key: x for key, x in own.items() if key not in names}
            result = overload(*[own[x] for x in names if x in own], **keywords)
            found = drawn_values(base, own, result)
            assert found is not None
            return to_host(found).clone(), own

        state = generator.read()
        try:
            one, arguments = draw()
            two, _ = draw()
            generator.write(state)
            again, _ = draw()
        finally:
            generator.write(state)
        law = law_of(base, arguments, one)
        if law is None:
            return ""
        if not same_values(one, again):
            return "from the same state of the generator it draws other numbers"
        if law.varies and same_values(one, two):
            return "it draws the same numbers again and again"
        problem = law.outside(one)
        if problem:
            return problem
        law, one = first_draws(law, one)
        uniforms = self._uniforms(law, one)
        scores = (uniforms - 0.5) * math.sqrt(12)
        problem = repetition(one, law.entropy(one.shape)) or correlation(scores)
        if problem:
            return problem
        found = DrawHistory().add(uniforms, slack_of(law, one))
        return f"draws do not follow their law: {found}" if found else ""


def first_draws(law: Law, values: Tensor) -> tuple[Law, Tensor]:
    """As many rows of the draws as are looked at."""
    if values.dim() == 0 or values.numel() <= SAMPLE:
        return law, values
    rows = max(1, SAMPLE * values.size(0) // values.numel())
    return law.first(rows), values[:rows]


def slack_of(law: Law, values: Tensor) -> float:
    """Return how far rounding to the draws' dtype moves the distribution."""
    if not values.is_floating_point() or torch.finfo(values.dtype).bits > 16 or not values.numel():
        return 0.0
    return float(law.cells(values).mean()) + 2 * torch.finfo(values.dtype).eps


def enlarged(base: str, bound: Mapping[str, Any], drawn: Tensor) -> dict[str, Any]:
    """The arguments of a call that draws a table of numbers by the same parameters."""
    given = dict(bound)
    if base == "randperm":
        given["n"] = SAMPLE
        return given
    if "size" in given:
        given["size"] = [ROWS, SAMPLE // ROWS]
        return given
    drawing = drawing_of(base, bound)
    assert drawing is not None
    if base == "multinomial" or base == "_sample_dirichlet":
        rows = given["self"].detach().reshape(-1, given["self"].shape[-1])
        size = rows.size(0) * max(rows.size(1), int(given.get("num_samples", 1)))
        given["self"] = rows.repeat(max(1, SAMPLE // max(size, 1)), 1)
        return given
    tensors = {x: given[x].detach() for x in drawing.parameters if isinstance(given.get(x), Tensor)}
    shape = torch.broadcast_shapes(*[x.shape for x in tensors.values()]) if tensors else ()
    flat = {key: x.expand(shape).flatten()[:SAMPLE] for key, x in tensors.items()}
    count = next((x.numel() for x in flat.values()), SAMPLE // ROWS)
    table = (max(2, SAMPLE // max(count, 1)), count)
    for key, x in flat.items():
        given[key] = x.expand(table).contiguous()
    for key in drawing.filled:
        if isinstance(given.get(key), Tensor):
            given[key] = torch.ones(table, dtype=given[key].dtype, device=given[key].device)
    if isinstance(given.get("out"), Tensor):
        given["out"] = torch.empty(table, dtype=drawn.dtype, device=drawn.device)
    return given


def _key(state: Tensor) -> bytes:
    return hashlib.blake2b(state.numpy().tobytes(), digest_size=16).digest()


def _device(bound: Mapping[str, Any]) -> torch.device:
    """Where a call draws."""
    tensors = tensors_of(*bound.values())
    device = tensors[0].device if tensors else torch.device(bound.get("device") or "cpu")
    if device.index is None and device.type != "cpu":
        return torch.device(device.type, torch.get_device_module(device).current_device())
    return device

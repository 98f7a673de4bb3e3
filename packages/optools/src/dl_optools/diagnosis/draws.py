"""Tests of the numbers that random operators draw.

Each call: every value can be drawn, the same state of the generator gives the same numbers again,
the state advances, draws follow their distribution, and rows, neighbours and earlier calls do not
repeat each other. Once for each distribution, more draws are made with the same parameters; the
state is restored afterwards, so that the program's numbers do not change.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping
from typing import Any

import torch

from diopi_proto.tolerance.torch_operators.comparison import dtype_name, same_values, to_host
from diopi_proto.tolerance.torch_operators.op_classes import base_name
from diopi_proto.tolerance.torch_operators.schema import Overload, signature
from diopi_proto.tolerance.torch_operators.tensors import tensors_of
from dl_optools.diagnosis.call_distributions import distribution_of, drawing_of, find_draws
from dl_optools.diagnosis.distributions import Distribution
from dl_optools.diagnosis.draw_history import DrawHistory
from dl_optools.diagnosis.generators import GeneratorState
from dl_optools.diagnosis.independence import correlation, repetition
from dl_optools.diagnosis.masked import product_problem

Tensor = torch.Tensor
Run = Callable[[], Any]

SAMPLE = 1 << 16
"""Number of additional draws, and maximum number of examined draws per call."""
ROWS = 64
"""Number of rows of these draws."""


class DrawChecks:
    """Records the draws of a program by operator."""

    def __init__(self) -> None:
        self._histories: dict[str, DrawHistory] = {}
        self._sampled: set[tuple[str, ...]] = set()
        self._ends: dict[str, bytes] = {}
        # Noise of the tests: the same in each run, and independent of the program's generators.
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

        :param proceed: runs the call.
        :param repeat: run it twice, from the same state of the generator.
        :returns: the result, and what is wrong: empty if nothing is, None if the distribution is
            unknown.
        """
        generator = GeneratorState(bound, _device(bound))
        before = generator.read()
        result = proceed()
        after = generator.read()
        base = base_name(overload)
        drawn = find_draws(base, bound, result)
        distribution = None if drawn is None else distribution_of(base, bound, drawn)
        if drawn is None or distribution is None:
            return result, None
        values = to_host(drawn).clone()
        problem = distribution.outside(values) or product_problem(base, bound, result)
        problem = problem or self._state(distribution, values, before, after)
        if repeat and not problem:
            again = self._again(generator, before, after, overload, bound, proceed)
            if not same_values(again, values):
                problem = "from the same state of the generator it draws different numbers"
        if not problem:
            problem = self._against_others(
                name, number, distribution, values, _key(before), generator.name
            )
        self._ends[generator.name] = _key(after)
        if not problem:
            key = (name, distribution.text, dtype_name(values.dtype))
            if key not in self._sampled:
                self._sampled.add(key)
                problem = self._sample(overload, base, bound, drawn, generator)
        return result, f"{problem} (call {number}, {distribution.text})" if problem else ""

    def _state(
        self, distribution: Distribution, values: Tensor, before: Tensor, after: Tensor
    ) -> str:
        if values.numel() and distribution.varies and torch.equal(before, after):
            return "it does not advance the state of the generator: the next call draws the same"
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
        """Return the draws of another call from the same state; in-place writes are undone."""
        written = tensors_of(*[bound.get(x) for x in signature(overload).written])
        originals = [x.detach().clone() for x in written]
        try:
            generator.write(before)
            found = find_draws(base_name(overload), bound, proceed())
            assert found is not None
            return to_host(found).clone()
        finally:
            generator.write(after)
            with torch.no_grad():
                for each, original in zip(written, originals, strict=True):
                    each.copy_(original)

    def _against_others(
        self,
        name: str,
        number: int,
        distribution: Distribution,
        values: Tensor,
        state: bytes,
        generator: str,
    ) -> str:
        history = self._histories.setdefault(name, DrawHistory())
        if self._ends.get(generator) != state:
            for each in self._histories.values():
                each.restart()
        distribution, values = first_draws(distribution, values)
        entropy = distribution.entropy(values.shape)
        uniforms = self._uniforms(distribution, values)
        scores = (uniforms - 0.5) * math.sqrt(12)
        problem = (
            repetition(values, entropy)
            or correlation(scores)
            or history.describe_repetition(values, entropy, state, number)
            or history.describe_dependence(scores, state, number)
        )
        if problem:
            return problem
        found = history.add(uniforms, slack_of(distribution, values))
        return f"draws do not follow their distribution: {found}" if found else ""

    def _uniforms(self, distribution: Distribution, values: Tensor) -> Tensor:
        noise = torch.rand(values.shape, dtype=torch.float64, generator=self._noise)
        return distribution.uniforms(values, noise)

    def _sample(
        self,
        overload: Overload[Any, Any],
        base: str,
        bound: Mapping[str, Any],
        drawn: Tensor,
        generator: GeneratorState,
    ) -> str:
        """Test many draws with the same parameters, made twice from one state."""
        given = enlarge_arguments(base, bound, drawn)
        names = [x.name for x in overload._schema.arguments if not x.kwarg_only]

        def draw() -> tuple[Tensor, Mapping[str, Any]]:
            own = {key: x.clone() if isinstance(x, Tensor) else x for key, x in given.items()}
            keywords = {key: x for key, x in own.items() if key not in names}
            result = overload(*[own[x] for x in names if x in own], **keywords)
            found = find_draws(base, own, result)
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
        distribution = distribution_of(base, arguments, one)
        if distribution is None:
            return ""
        if not same_values(one, again):
            return "from the same state of the generator it draws different numbers"
        if distribution.varies and same_values(one, two):
            return "it draws the same numbers at every call"
        problem = distribution.outside(one)
        if problem:
            return problem
        distribution, one = first_draws(distribution, one)
        uniforms = self._uniforms(distribution, one)
        scores = (uniforms - 0.5) * math.sqrt(12)
        problem = repetition(one, distribution.entropy(one.shape)) or correlation(scores)
        if problem:
            return problem
        found = DrawHistory().add(uniforms, slack_of(distribution, one))
        return f"draws do not follow their distribution: {found}" if found else ""


def first_draws(distribution: Distribution, values: Tensor) -> tuple[Distribution, Tensor]:
    """Return the rows of the draws that are examined."""
    if values.dim() == 0 or values.numel() <= SAMPLE:
        return distribution, values
    rows = max(1, SAMPLE * values.size(0) // values.numel())
    return distribution.first(rows), values[:rows]


def slack_of(distribution: Distribution, values: Tensor) -> float:
    """Return how far rounding to the draws' dtype shifts the distribution."""
    if not values.is_floating_point() or torch.finfo(values.dtype).bits > 16 or not values.numel():
        return 0.0
    return float(distribution.cells(values).mean()) + 2 * torch.finfo(values.dtype).eps


def enlarge_arguments(base: str, bound: Mapping[str, Any], drawn: Tensor) -> dict[str, Any]:
    """Return the arguments of a call that draws a table of numbers with the same parameters."""
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
    """Return the device on which a call draws."""
    tensors = tensors_of(*bound.values())
    device = tensors[0].device if tensors else torch.device(bound.get("device") or "cpu")
    if device.index is None and device.type != "cpu":
        return torch.device(device.type, torch.get_device_module(device).current_device())
    return device

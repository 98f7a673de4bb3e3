"""What comparing with the CPU does not see: calls that change their mind, and draws."""

from __future__ import annotations

import sys
import threading
from collections import Counter
from typing import Any, cast

import torch

from dl_core.torch_backend.judging.comparison import dtype_name, to_host
from dl_core.torch_backend.judging.op_classes import base_name, draws, is_uninitialised
from dl_core.torch_backend.judging.schema import Overload, Signature, signature
from dl_optools.call import OpCall
from dl_optools.compare.signature_sampling import DEFAULT_EVERY, Pick, SignatureSampler
from dl_optools.diagnosis.distributions import dropout_problem, law_of, permutation_problem
from dl_optools.diagnosis.names import EVERY_VARIABLE
from dl_optools.diagnosis.twice import apart, differing
from dl_optools.environment import environment
from dl_optools.names import Level
from dl_optools.on_host import only_on_device
from dl_optools.options import CALLS, at_least, read
from dl_optools.tensors import tensors_of
from dl_optools.tool import Tool

SAMPLE = 1 << 16
"""Draws that are looked at besides those of the program."""
GROSS = 1 << 10
"""Units of the dtype's epsilon, of the largest value, that no order of summation explains."""


class OpProbe(Tool):
    """Calls overloads twice, with the same arguments, and looks at what random ones draw.

    The program's random numbers stay what they are: further draws are made from a state that is
    put back. What is written in place is not called twice.
    """

    variable = "PROBE"
    default_level = Level.DISPATCH
    observes = True

    def opened(self) -> None:
        every = read(environment(), EVERY_VARIABLE, at_least(1), DEFAULT_EVERY, CALLS)
        self._sampler = SignatureSampler(every)
        self._lock = threading.Lock()
        self.calls: Counter[str] = Counter()
        self.dtypes: dict[str, set[str]] = {}
        self.repeated: Counter[str] = Counter()
        self.unequal: dict[str, dict[str, Any]] = {}
        self.drawn: Counter[str] = Counter()
        self.unknown: Counter[str] = Counter()
        self.wrong: dict[str, str] = {}
        self._sampled: set[tuple[str, str]] = set()
        self._only_on_device: set[str] = set()

    def wants(self, name: str, function: Any) -> bool:
        return (
            super().wants(name, function)
            and not signature(function).view
            and not is_uninitialised(function)
        )

    def handle(self, call: OpCall) -> Any:
        overload = cast("Overload[Any, Any]", call.function)
        facts = signature(overload)
        self.calls[call.name] += 1
        tensors = tensors_of(call.args, call.kwargs)
        if tensors:
            self.dtypes.setdefault(call.name, set()).add(dtype_name(tensors[0].dtype))
        if only_on_device(overload):
            self._only_on_device.add(call.name)
        pick = self._sampler.pick(call)
        if draws(overload, call.args, call.kwargs):
            result = call.proceed()
            self._look_at_draws(call, overload, facts, result)
            return result
        if pick is Pick.SKIP or facts.written:
            return call.proceed()
        result = call.proceed()
        self._compare(call, result, call.proceed())
        return result

    # Twice the same

    def _compare(self, call: OpCall, result: Any, again: Any) -> None:
        self.repeated[call.name] += 1
        overload = cast("Overload[Any, Any]", call.function)
        found = differing(overload, call.args, call.kwargs, result, again)
        if found is None:
            return
        units = apart(*found)
        with self._lock:
            known = self.unequal.setdefault(call.name, {"calls": 0, "units": 0.0})
            known["calls"] += 1
            known["units"] = max(known["units"], units)
            if units > GROSS:
                self.wrong.setdefault(
                    call.name,
                    f"called twice with the same arguments it gives results that are "
                    f"{units:.3g} eps apart (call {call.number})",
                )

    # Draws

    def _look_at_draws(
        self, call: OpCall, overload: Overload[Any, Any], facts: Signature, result: Any
    ) -> None:
        defaults = {x.name: x.default_value for x in overload._schema.arguments}
        bound = {**defaults, **facts.bind(call.args, call.kwargs)}
        name = base_name(overload)
        if name == "randperm":
            self.drawn[call.name] += 1
            if problem := permutation_problem(result):
                with self._lock:
                    self.wrong.setdefault(call.name, f"{problem} (call {call.number})")
            return
        law = law_of(name, bound)
        if law is None:
            self.unknown[call.name] += 1
            return
        self.drawn[call.name] += 1
        problem = ""
        if name == "native_dropout":
            values, mask = result
            problem = dropout_problem(bound["input"], float(bound["p"]), values, mask)
            drawn = mask
        else:
            drawn = result if isinstance(result, torch.Tensor) else bound.get("self")
        problem = problem or law.problem(to_host(drawn))
        key = (call.name, law.text + dtype_name(drawn.dtype))
        if not problem and key not in self._sampled:
            self._sampled.add(key)
            problem = self._sample(overload, bound, drawn, law)
        if problem:
            with self._lock:
                self.wrong.setdefault(call.name, f"{problem} (call {call.number})")

    def _sample(
        self, overload: Overload[Any, Any], bound: dict[str, Any], drawn: Any, law: Any
    ) -> str:
        """Many draws with the same parameters, twice from one state."""
        given = dict(bound)
        dtype = given["input"].dtype if "input" in given else drawn.dtype
        if "size" in given:
            given["size"] = [SAMPLE]
        if "num_samples" in given:
            given["num_samples"] = SAMPLE
        elif overload is torch.ops.aten.bernoulli.default:
            # As often as it takes, so that probabilities stay as they are spread.
            p = given["self"].detach().flatten()
            given["self"] = p.repeat(max(SAMPLE // max(p.numel(), 1), 1))
        else:
            given = {
                key: torch.ones(SAMPLE, dtype=dtype, device=drawn.device)
                if key in ("self", "input")
                else value
                for key, value in given.items()
            }
        given.pop("generator", None)
        device = drawn.device
        generators: Any = None if device.type == "cpu" else torch.get_device_module(device)
        state = torch.get_rng_state() if generators is None else generators.get_rng_state(device)

        def draw() -> torch.Tensor:
            arguments = {
                k: x.clone() if isinstance(x, torch.Tensor) else x for k, x in given.items()
            }
            positional = [x.name for x in overload._schema.arguments if not x.kwarg_only]
            args = [arguments.pop(x) for x in positional if x in arguments]
            found = overload(*args, **arguments)
            return to_host(found[1] if isinstance(found, tuple) else found)

        def put_back() -> None:
            if generators is None:
                torch.set_rng_state(state)
            else:
                generators.set_rng_state(state, device)

        try:
            one, two = draw(), draw()
            put_back()
            again = draw()
        finally:
            put_back()
        varied = law.deviation > 0
        problem: str = law.problem(one)
        if problem:
            return problem
        if not torch.equal(one, again):
            return f"from the same state of the generator it draws other numbers for {law.text}"
        if varied and torch.equal(one, two):
            return f"it draws the same numbers again and again for {law.text}"
        if varied and law.alike and (lag := _correlation(one)) > 8 / SAMPLE**0.5:
            return f"neighbouring draws for {law.text} are correlated: {lag:.3g}"
        return ""

    def report(self) -> dict[str, Any]:
        """All of it, as JSON."""
        return {
            "calls": dict(self.calls),
            "dtypes": {name: sorted(x) for name, x in self.dtypes.items()},
            "repeated": dict(self.repeated),
            "unequal": self.unequal,
            "drawn": dict(self.drawn),
            "unknown": dict(self.unknown),
            "wrong": self.wrong,
            "only_on_device": sorted(self._only_on_device),
            "device": self.device,
            "imported": [name for name in list(sys.modules) if name.startswith("torch.")],
        }


def _correlation(values: torch.Tensor) -> float:
    """Of each value with the next one, in magnitude."""
    x = values.double().flatten()
    x = x - x.mean()
    return abs(float((x[1:] * x[:-1]).sum() / x.square().sum()))

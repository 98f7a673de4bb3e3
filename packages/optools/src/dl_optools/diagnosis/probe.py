"""Checks that complement the comparison with the CPU: nondeterministic calls, and random draws."""

from __future__ import annotations

import sys
import threading
from collections import Counter
from typing import Any, cast

import torch

from diopi_proto.tolerance.torch_operators.comparison import dtype_name
from diopi_proto.tolerance.torch_operators.op_classes import base_name, draws, is_uninitialised
from diopi_proto.tolerance.torch_operators.schema import Overload, Signature, signature
from dl_optools.call import OpCall
from dl_optools.compare.signature_sampling import DEFAULT_EVERY, Pick, SignatureSampler
from dl_optools.diagnosis.draws import DrawChecks
from dl_optools.diagnosis.inside import run_and_record
from dl_optools.diagnosis.masked import RRELU
from dl_optools.diagnosis.names import EVERY_VARIABLE, INSIDE_VARIABLE
from dl_optools.diagnosis.repeated_calls import find_difference, max_distance
from dl_optools.environment import environment
from dl_optools.names import Level
from dl_optools.on_host import only_on_device
from dl_optools.options import CALLS, at_least, read
from dl_optools.overflow.values import has_values
from dl_optools.tensors import tensors_of
from dl_optools.tool import Tool

GROSS = 1 << 10
"""Difference, in units of the dtype's epsilon of the largest value, beyond any summation order."""


class OpProbe(Tool):
    """Calls overloads twice with the same arguments, and tests the draws of random ones.

    The program's random numbers do not change: the state of the generator is restored after
    further draws. Calls that write in place are not repeated.
    """

    variable = "PROBE"
    default_level = Level.DISPATCH
    observes = True

    def opened(self) -> None:
        every = read(environment(), EVERY_VARIABLE, at_least(1), DEFAULT_EVERY, CALLS)
        self._sampler = SignatureSampler(every)
        self._only_inside = environment().get(INSIDE_VARIABLE) == "1"
        self.inside: dict[str, set[str]] = {}
        self._lock = threading.RLock()
        self.calls: Counter[str] = Counter()
        self.dtypes: dict[str, set[str]] = {}
        self.repeated: Counter[str] = Counter()
        self.unequal: dict[str, dict[str, Any]] = {}
        self.drawn: Counter[str] = Counter()
        self.unknown: Counter[str] = Counter()
        self.wrong: dict[str, str] = {}
        self._draws = DrawChecks()
        self._only_on_device: set[str] = set()
        self._bad_gradients = False

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
        if self._only_inside:
            return self._record_inside(call)
        pick = self._sampler.pick(call)
        if draws(overload, call.args, call.kwargs):
            return self._test_draws(call, overload, facts, repeat=pick is not Pick.SKIP)
        if pick is Pick.SKIP or facts.written:
            return call.proceed()
        result = call.proceed()
        if call.backward and not self._bad_gradients and makes_not_finite(call, result):
            self._bad_gradients = True
        self._compare(call, result, call.proceed())
        return result

    def _record_inside(self, call: OpCall) -> Any:
        with self._lock:
            if call.name in self.inside:
                return call.proceed()
            result, self.inside[call.name] = run_and_record(call.proceed)
        return result

    # Repeated calls

    def _compare(self, call: OpCall, result: Any, again: Any) -> None:
        self.repeated[call.name] += 1
        overload = cast("Overload[Any, Any]", call.function)
        found = find_difference(overload, call.args, call.kwargs, result, again)
        if found is None:
            return
        units = max_distance(*found)
        with self._lock:
            known = self.unequal.setdefault(call.name, {"calls": 0, "units": 0.0})
            known["calls"] += 1
            known["units"] = max(known["units"], units)
            if units > GROSS:
                self.wrong.setdefault(
                    call.name,
                    f"two calls with the same arguments differ by {units:.3g} eps of the largest "
                    f"value (call {call.number})",
                )

    # Draws

    def _test_draws(
        self, call: OpCall, overload: Overload[Any, Any], facts: Signature, *, repeat: bool
    ) -> Any:
        defaults = {x.name: x.default_value for x in overload._schema.arguments}
        bound = {**defaults, **facts.bind(call.args, call.kwargs)}
        # After an in-place write, the second call would get a different input.
        repeat = repeat and base_name(overload) not in RRELU
        with self._lock:
            result, problem = self._draws.call(
                call.name, call.number, overload, bound, call.proceed, repeat=repeat
            )
            if problem is None:
                self.unknown[call.name] += 1
            else:
                self.drawn[call.name] += 1
            if problem:
                self.wrong.setdefault(call.name, problem)
        return result

    def report(self) -> dict[str, Any]:
        """Return all findings as JSON."""
        return {
            "calls": dict(self.calls),
            "dtypes": {name: sorted(x) for name, x in self.dtypes.items()},
            "repeated": dict(self.repeated),
            "unequal": self.unequal,
            "drawn": dict(self.drawn),
            "unknown": dict(self.unknown),
            "wrong": self.wrong,
            "inside": {name: sorted(x) for name, x in self.inside.items()},
            "only_on_device": sorted(self._only_on_device),
            "bad_gradients": self._bad_gradients,
            "device": self.device,
            "compilers": compilers(),
            "imported": [name for name in list(sys.modules) if name.startswith("torch.")],
        }


def makes_not_finite(call: OpCall, result: Any) -> bool:
    """Return True if a call makes nan or inf from finite values."""

    def is_finite(value: Any) -> bool:
        known = [x for x in tensors_of(value) if has_values(x) and x.layout == torch.strided]
        return all(bool(x.detach().isfinite().all()) for x in known)

    return not is_finite(result) and is_finite((call.args, call.kwargs))


def compilers() -> list[str]:
    """Return the names of the backends with which the program called ``torch.compile``."""
    frames = sys.modules.get("torch._dynamo.eval_frame")
    found = dict(getattr(frames, "cached_backends", {})).values()
    names = (getattr(x, "compiler_name", None) or getattr(x, "__name__", None) for x in found)
    return sorted({str(name) for name in names if name})

"""The call of a bundle as autocompare judges it: from a run here, and from the recording."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from diopi_proto.tolerance.torch_operators.comparison import to_host
from diopi_proto.tolerance.torch_operators.schema import Overload, signature
from dl_optools.bundle.placement import Placement
from dl_optools.bundle.reader import Bundle
from dl_optools.bundle.values import TensorRef, dtype_of, substitute
from dl_optools.compare.call_comparison import CheckedCall
from dl_optools.compare.subjects import (
    FunctionSubject,
    GradientSubject,
    OverloadSubject,
    Subject,
    Tree,
    function_answers,
    outputs_of,
)
from dl_optools.compare.trace import Answers, answers_of
from dl_optools.names import Level
from dl_optools.replay.run import Outcome
from dl_optools.tensors import tensors_of

_CPU = torch.device("cpu")


@dataclass(frozen=True)
class Pair:
    """Two runs of one call, with the same arguments.

    :ivar missing: messages for outputs that only one of the two has.
    """

    here: CheckedCall
    recorded: CheckedCall
    missing: dict[str, str]


class BundleCalls:
    """Calls to judge, on the CPU, from one bundle and one run of it."""

    def __init__(self, bundle: Bundle, outcome: Outcome) -> None:
        self.bundle, self.document = bundle, bundle.document
        self.outcome = outcome
        self.tensors = tensors_of(outcome.args, outcome.kwargs)
        recorded = {x.same for x in self.document.results[self.document.returned :]}
        inputs = {id(x) for at, x in enumerate(outcome.inputs) if at in recorded}
        # Indices, among the tensors, of the tensors that either run wrote to.
        self.written = [
            at for at, x in enumerate(self.tensors) if at in outcome.written or id(x) in inputs
        ]
        name = self.document.context["autocast"].get(self.document.device)
        self.autocast = None if name is None else dtype_of(name, "context")

    def forward(self) -> Pair:
        """Return the results and in-place writes of the call."""
        function, outcome = self.bundle.function, self.outcome
        result, args, kwargs = self._after()
        if isinstance(function, Overload):
            facts = signature(function)
            here = answers_of(facts, outcome.result, outcome.args, outcome.kwargs)
            recorded = answers_of(facts, result, args, kwargs)
            subject: Subject = OverloadSubject(function)
        else:
            here = function_answers(outcome.result, self.tensors, self.written)
            recorded = function_answers(result, tensors_of(args, kwargs), self.written)
            subject = FunctionSubject(function, self.written, self.autocast)
        placed = Placement(self.bundle, _CPU, gradients=self.document.level is Level.API)
        labels = [label for label, _ in here], [label for label, _ in recorded]
        return self._pair(subject, placed.arguments(), here, recorded, _missing(*labels))

    def backward(self) -> Pair | None:
        """Return the gradients that both have; None if nothing was recorded."""
        record = self.document.gradients
        if record is None:
            return None
        placed, outcome = Placement(self.bundle, _CPU), self.outcome
        first = {id(x): at for at, x in reversed(list(enumerate(self.tensors)))}
        # Empty if no result received a gradient.
        gradients = outcome.gradients or [None] * len(outcome.inputs)
        here: dict[int, torch.Tensor] = {}
        recorded: dict[int, torch.Tensor] = {}
        for tensor, gradient, index in zip(outcome.inputs, gradients, record.inputs, strict=True):
            at = first.get(id(tensor), -1)
            if gradient is not None:
                here[at] = gradient
            if index is not None:
                recorded[at] = placed.tensor(index)
        arrived = dict(zip(map(id, outcome.results), record.outputs, strict=False))
        outputs = outputs_of(outcome.result, self.tensors, self.written)
        # Each distinct tensor once.
        incoming = [arrived.pop(id(x), None) for x in outputs]
        wanted = sorted(here.keys() & recorded.keys())
        args, kwargs = placed.arguments()
        tree = (args, kwargs, [None if x is None else placed.tensor(x).detach() for x in incoming])
        return self._pair(
            GradientSubject(self.bundle.function, self.written, self.autocast, wanted),
            tree,
            [(_gradient(at), here[at]) for at in wanted],
            [(_gradient(at), recorded[at]) for at in wanted],
            _missing([_gradient(at) for at in here], [_gradient(at) for at in recorded]),
            backward=True,
        )

    def _after(self) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
        """Return the recorded result, and the arguments after the recorded call."""
        document = self.document
        later = {document.inputs[x.same]: x.tensor for x in document.results if x.same is not None}

        def leaf(value: Any) -> Any:
            if isinstance(value, TensorRef):
                return TensorRef(later.get(value.index, value.index))
            return value

        tree = substitute((document.result, document.args, document.kwargs), leaf)
        result, args, kwargs = Placement(self.bundle, _CPU, gradients=False).tree(tree)
        return result, args, kwargs

    def _pair(
        self,
        subject: Subject,
        tree: Tree,
        here: Answers,
        recorded: Answers,
        missing: dict[str, str],
        backward: bool = False,
    ) -> Pair:
        document = self.document

        def call(answers: Answers) -> CheckedCall:
            return CheckedCall(
                document.program["call"],
                document.operator,
                document.level,
                subject,
                tree,
                [(label, to_host(x) if isinstance(x, torch.Tensor) else x) for label, x in answers],
                backward or document.program["backward"],
            )

        return Pair(call(here), call(recorded), missing)


def _gradient(at: int) -> str:
    return f"gradient of input {at}"


def _missing(here: Sequence[str], recorded: Sequence[str]) -> dict[str, str]:
    found = {label: f"{label}: not recorded" for label in here if label not in recorded}
    found |= {label: f"{label}: missing here" for label in recorded if label not in here}
    return found

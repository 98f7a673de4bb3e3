"""Tests of torch's operators (OpInfo) with ``torch.compile(backend="dl")``."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

import torch
from torch.utils._pytree import tree_flatten

from dl_dicp.statistics import Statistics, statistics
from dl_dicp.testing.agreement import difference
from dl_dicp.testing.arguments import Copies, tensors_of

SAMPLES = 2
"""Number of samples of each operator: the first one and one from the middle."""
SEED = 7

KINDS = ("forward", "backward", "in-place")

UNINITIALISED = frozenset(
    {
        "empty",
        "empty_like",
        "empty_permuted",
        "empty_strided",
        "new_empty",
        "new_empty_strided",
    }
)
"""Operators whose results are uninitialized."""

Arguments = tuple[Any, tuple[Any, ...], dict[str, Any]]


@dataclass(frozen=True)
class Case:
    """Test case: an operator in one form.

    :ivar kind: ``forward`` (without gradients), ``backward`` or ``in-place``.
    """

    op: Any
    kind: str
    dtype: torch.dtype = torch.float32

    @property
    def name(self) -> str:
        """Return the name, such as ``add | forward | float32``."""
        variant = f".{self.op.variant_test_name}" if self.op.variant_test_name else ""
        return f"{self.op.name}{variant} | {self.kind} | {str(self.dtype)[6:]}"


@dataclass
class Report:
    """Outcome of a test case.

    :ivar problem: the first problem; None if all samples agreed.
    :ivar samples: number of compared runs.
    :ivar refused: number of samples that eager mode rejects.
    :ivar seen: counters of the compiled programs.
    """

    name: str
    problem: str | None = None
    samples: int = 0
    refused: int = 0
    seen: Statistics = field(default_factory=Statistics)


def cases(dtype: torch.dtype = torch.float32) -> Iterator[Case]:
    """Return test cases for all operators of torch's list in all forms."""
    from torch.testing._internal.common_methods_invocations import op_db

    for op in op_db:
        if dtype not in op.dtypes:
            continue
        yield Case(op, "forward", dtype)
        if op.supports_autograd and dtype in op.backward_dtypes:
            yield Case(op, "backward", dtype)
        if op.inplace_variant is not None:
            yield Case(op, "in-place", dtype)


def run(
    case: Case, *, dynamic: bool, backend: str = "dl", options: Mapping[str, Any] | None = None
) -> Report:
    """Run samples of a case eagerly and compiled on dl:0. Each compiled sample runs three times:
    while it is recorded, as a program, and as a program with other values.

    :param options: options of the backend.
    """
    report = Report(case.name)
    function = _function(case)
    torch._dynamo.reset()
    statistics.reset()
    compiled = torch.compile(
        function, backend=backend, dynamic=dynamic, options=dict(options or {}) or None
    )
    for sample in _samples(case):
        try:
            _compare(case, function, compiled, sample, report)
        except Exception as error:  # noqa: BLE001 - any exception is the outcome of the sample
            report.problem = error_line(error)
        if report.problem is not None:
            break
    report.seen = statistics.snapshot()
    torch._dynamo.reset()
    return report


def _compare(case: Case, eager: Any, compiled: Any, sample: Any, report: Report) -> None:
    for rolled in (False, False, True):
        try:
            want = _outcome(case, eager, sample, rolled)
        except Exception:  # noqa: BLE001 - an operator may reject a sample with any error
            report.refused += 1
            return
        got = _outcome(case, compiled, sample, rolled)
        report.samples += 1
        if case.op.name.split(".")[-1] in UNINITIALISED:
            want, got = _without_values(want), _without_values(got)
        report.problem = difference(got, want)
        if report.problem is not None:
            report.problem += " (with other values)" if rolled else ""
            return


def _outcome(case: Case, function: Any, sample: Any, rolled: bool) -> list[Any]:
    """Return the results, the arguments after the call, and gradients."""
    given = (sample.input, tuple(sample.args), dict(sample.kwargs))
    arguments = Copies("dl", rolled=rolled)(given)
    torch.manual_seed(SEED)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if case.kind == "in-place" and arguments[0].requires_grad:
            raise ValueError("a leaf that requires gradients must not be written in place")
        result = function(*arguments)
        found = [*tree_flatten(result)[0], *tensors_of(arguments)]
        if case.kind == "backward":
            found += _gradients(sample, result, arguments)
    return found


def _gradients(sample: Any, result: Any, arguments: Arguments) -> list[Any]:
    results = [x for x in tensors_of(sample.output_process_fn_grad(result)) if x.requires_grad]
    wanted = [x for x in tensors_of(arguments) if x.requires_grad]
    if not results or not wanted:
        return []
    return list(
        torch.autograd.grad(results, wanted, [_cotangent(x) for x in results], allow_unused=True)
    )


def _cotangent(output: torch.Tensor) -> torch.Tensor:
    """Return different values for each element, so that permuted gradients are detected."""
    values = (torch.arange(output.numel(), device=output.device) % 7 + 1) / 4
    return values.reshape(output.shape).to(output.dtype)


def _function(case: Case) -> Callable[..., Any]:
    chosen = case.op.inplace_variant if case.kind == "in-place" else case.op.op

    def function(first: Any, args: Any, kwargs: Any) -> Any:
        return chosen(first, *args, **kwargs)

    return function


def _samples(case: Case) -> list[Any]:
    """Return the first sample of the operator and one from the middle, on the CPU."""
    torch.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        every = list(
            case.op.sample_inputs("cpu", case.dtype, requires_grad=case.kind == "backward")
        )
    found = [x for x in every if tensors_of((x.input, x.args, x.kwargs)) or "device" in x.kwargs]
    return found if len(found) <= SAMPLES else [found[0], found[len(found) // 2]]


def _without_values(values: list[Any]) -> list[Any]:
    return [torch.zeros_like(x) if isinstance(x, torch.Tensor) else x for x in values]


def error_line(error: Exception) -> str:
    """Return an error in one line."""
    lines = [line for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0][:200] if lines else ''}"


class Unseeded:
    """Context manager that simplifies OpInfo. OpInfo does not seed random operators, because Dynamo
    cannot trace its lambdas that do. Two slow functions are disabled: the search of the stack for a
    unittest when samples are listed, and the seeding of devices that are not available."""

    def __enter__(self) -> None:
        import torch.testing._internal.common_methods_invocations as definitions
        from torch.testing._internal import common_utils
        from torch.testing._internal.opinfo import core

        with ExitStack() as stack:
            stack.enter_context(patch.object(definitions, "wrapper_set_seed", _plain))
            for module in (common_utils, core):
                stack.enter_context(patch.object(module, "extract_test_fn", lambda: None))
            for device in (torch.cuda, torch.xpu, torch.mtia):
                if not device.is_available():
                    stack.enter_context(patch.object(device, "manual_seed_all", lambda seed: None))
            self._patches = stack.pop_all()

    def __exit__(self, *_: object) -> None:
        self._patches.close()


def _plain(op: Any, *args: Any, **kwargs: Any) -> Any:
    return op(*args, **kwargs)

"""Comparison of one OpInfo operator on dl with the CPU: the same samples, seeds and aliasing on
both.

A call is a plain function of (input, args, kwargs), for every form of the operator.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from unittest.mock import patch

import torch
import torch.testing._internal.common_methods_invocations as opinfo_definitions
from torch.utils._pytree import tree_flatten

from diopi_proto.tolerance.torch_operators.comparison import same_values, to_host
from diopi_proto.tolerance.torch_operators.conditioning import magnitudes
from dl_optools.relocation import WIDER

from .judge import metadata_problem, value_problem
from .operators import Judgement, full_name
from .random_results import SEED, compare_random
from .relocate import Relocation

PROBLEMS_SHOWN = 5
OTHER_SEEDS = 32
"""Number of other seeds to try: with few possible results, two seeds may give the same."""

Arguments = tuple[Any, tuple[Any, ...], dict[str, Any]]
Call = Callable[[Arguments], Any]


@dataclass
class Report:
    """Findings of a sweep of one operator."""

    name: str
    samples: int = 0
    refused: int = 0
    """Number of samples that both the CPU and dl reject."""
    problems: list[str] = field(default_factory=list)

    def add(self, sample: int, arguments: Arguments, problem: str | None) -> None:
        if problem is not None:
            self.problems.append(f"sample {sample} {describe(arguments)}: {problem}")

    def text(self) -> str:
        shown = "\n".join(self.problems[:PROBLEMS_SHOWN])
        return f"{self.name}: {len(self.problems)} problems in {self.samples} samples\n{shown}"


@dataclass
class Outcome:
    """The outcome of one call: its result or error, and the arguments it may have written to."""

    arguments: Arguments
    result: Any = None
    error: Exception | None = None

    def leaves(self) -> list[Any]:
        """Return the result, flattened."""
        return list(tree_flatten(self.result)[0])

    def values(self) -> list[Any]:
        """Return everything that the call created or may have changed: the result, then the
        arguments."""
        return [*self.leaves(), *tensors_of(self.arguments)]


def spread(samples: Sequence[Any], limit: int | None) -> list[Any]:
    """Return at most ``limit`` evenly spaced samples, including the first; None: all."""
    if limit is None or len(samples) <= limit:
        return list(samples)
    return [samples[at * len(samples) // limit] for at in range(limit)]


def samples_of(op: Any, dtype: torch.dtype, limit: int | None = None) -> list[Arguments]:
    """Return the operator's samples on the CPU, the same in every run; at most ``limit``."""
    torch.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = [
            (sample.input, tuple(sample.args), dict(sample.kwargs))
            for sample in op.sample_inputs("cpu", dtype, requires_grad=False)
        ]
    # arange(2) without a device does not test dl.
    return spread([each for each in found if tensors_of(each) or "device" in each[2]], limit)


def describe(arguments: Arguments) -> str:
    """Return the arguments in one line: shapes instead of values."""

    def one(value: Any) -> str:
        if isinstance(value, torch.Tensor):
            short = str(value.dtype).removeprefix("torch.")
            plain = value.layout != torch.strided or value.is_contiguous()
            return f"{short}{list(value.shape)}{'' if plain else f'/{list(value.stride())}'}"
        if isinstance(value, (list, tuple)):
            return "[" + ", ".join(map(one, value)) + "]"
        return repr(value)

    first, args, kwargs = arguments
    parts = [one(first), *map(one, args), *(f"{k}={one(v)}" for k, v in kwargs.items())]
    return f"({', '.join(parts)})"[:300]


def _without_fixed_seed(op: Any, *args: Any, **kwargs: Any) -> Any:
    """Replaces OpInfo's own wrapper, which seeds random operators and so hides that they are
    random."""
    return op(*args, **kwargs)


def run(
    call: Call,
    arguments: Arguments,
    *,
    seed: int = SEED,
    default: torch.dtype = torch.float32,
) -> Outcome:
    """Run the call; an error is an outcome, too.

    :param default: dtype that integers become when they are converted to floating point.
    """
    torch.manual_seed(seed)
    torch.set_default_dtype(default)
    unseeded = patch.object(opinfo_definitions, "wrapper_set_seed", _without_fixed_seed)
    with unseeded, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return Outcome(arguments, call(arguments))
        except Exception as error:  # noqa: BLE001 - whatever an operator raises is its outcome
            return Outcome(arguments, error=error)
        finally:
            torch.set_default_dtype(torch.float32)


def tensors_of(tree: Any) -> list[torch.Tensor]:
    return [leaf for leaf in tree_flatten(tree)[0] if isinstance(leaf, torch.Tensor)]


def aliases(outcome: Outcome) -> list[tuple[str, int, int] | None]:
    """Return, for each tensor of the result, whose memory it shares, and at which offset."""
    owners: dict[int, tuple[str, int]] = {}
    for kind, tensors in (("input", tensors_of(outcome.arguments)), ("output", [])):
        for at, tensor in enumerate(tensors):
            if tensor.layout == torch.strided:
                owners.setdefault(tensor.untyped_storage()._cdata, (kind, at))
    found: list[tuple[str, int, int] | None] = []
    for at, tensor in enumerate(tensors_of(outcome.result)):
        if tensor.layout != torch.strided:
            found.append(None)
            continue
        key = tensor.untyped_storage()._cdata
        owner = owners.setdefault(key, ("output", at))
        found.append(None if owner == ("output", at) else (*owner, int(tensor.storage_offset())))
    return found


def compare_calls(
    call: Call, original: Arguments, judgement: Judgement, device: str
) -> tuple[str | None, bool]:
    """Run ``call`` on the CPU and on ``device``; return the problem or None, and whether both
    rejected it."""
    cpu = run(call, Relocation()(original))
    got = run(call, move(original, judgement, device))
    return compare_outcomes(call, original, cpu, got, judgement, device)


def compare_outcomes(
    call: Call,
    original: Arguments,
    cpu: Outcome,
    got: Outcome,
    judgement: Judgement,
    device: str,
) -> tuple[str | None, bool]:
    """Return what is wrong with ``got`` or None, and whether both rejected the call."""
    if cpu.error is not None or got.error is not None:
        return refusal_problem(cpu.error, got.error), got.error is not None
    problem = structure_problem(cpu, got, judgement, device)
    if problem is None and not judgement.uninitialised:
        problem = values_problem(call, original, cpu, got, judgement)
    return problem, False


def move(original: Arguments, judgement: Judgement, device: str) -> Arguments:
    """Return the arguments on ``device``, except those that belong on the CPU."""
    if not judgement.cpu_arguments:
        moved: Arguments = Relocation(device)(original)
        return moved
    first, args, kwargs = original
    return Relocation(device)(first), Relocation()(args), Relocation(device)(kwargs)


def refusal_problem(cpu: Exception | None, got: Exception | None) -> str | None:
    """Check that both or neither reject; a NotImplementedError where the CPU computes is one of
    ours."""
    if cpu is not None and got is not None:
        return None
    if got is not None:
        return f"raises {type(got).__name__}: {str(got).splitlines()[0] if str(got) else ''}"
    return f"does not raise, the CPU does: {type(cpu).__name__}: {str(cpu)[:150]}"


def structure_problem(cpu: Outcome, got: Outcome, judgement: Judgement, device: str) -> str | None:
    """Return structural differences, which are checked before any values."""
    shape_cpu, shape_got = tree_flatten(cpu.result)[1], tree_flatten(got.result)[1]
    if shape_cpu != shape_got:
        return f"the result is {shape_got}, want {shape_cpu}"
    for at, (have, want) in enumerate(zip(got.leaves(), cpu.leaves(), strict=True)):
        if isinstance(want, torch.Tensor):
            problem = metadata_problem(have, want, device, any_strides=judgement.any_strides)
            if problem is not None:
                return f"output {at}: {problem}"
    if not judgement.any_strides and aliases(got) != aliases(cpu):
        return f"shares memory as {aliases(got)}, want {aliases(cpu)}"
    for at, (have, want) in enumerate(
        zip(tensors_of(got.arguments), tensors_of(cpu.arguments), strict=True)
    ):
        if have.shape != want.shape:
            return (
                f"argument {at} has shape {tuple(have.shape)} afterwards, not {tuple(want.shape)}"
            )
    return None


def values_problem(
    call: Call,
    original: Arguments,
    cpu: Outcome,
    got: Outcome,
    judgement: Judgement,
) -> str | None:
    """Return the first output or argument with wrong values; expensive comparisons come last."""
    pairs = list(zip(got.values(), cpu.values(), strict=True))
    if all(_equal(have, want) for have, want in pairs):
        return None
    run_wide = partial(run, call, default=torch.float64)
    references = run_wide(Relocation(dtypes=WIDER)(original)).values()
    terms = max((tensor.numel() for tensor in tensors_of(original)), default=1)

    def first_problem(scales: Sequence[torch.Tensor | None], *, with_peer: bool) -> str | None:
        for at, (have, want) in enumerate(pairs):
            if isinstance(want, torch.Tensor):
                problem = value_problem(
                    have,
                    want,
                    references[at] if at < len(references) else None,
                    judgement.class_of(want.numel(), terms),
                    terms,
                    _scale(scales[at], judgement.normwise) if at < len(scales) else None,
                    with_peer=with_peer,
                )
            else:
                problem = None if _equal(have, want) else f"{have!r}, want {want!r}"
            if problem is not None:
                return f"{_label(cpu, at)}: {problem}"
        return None

    if first_problem((), with_peer=False) is None:
        return None
    # First without allowing for the CPU's own error: a random result's error would allow
    # everything.
    if not judgement.varies and is_random(call, original, cpu):
        return compare_random(partial(run, call), original, got, judgement.independent)
    if first_problem((), with_peer=True) is None:
        return None

    def wide_copy() -> tuple[Arguments, list[torch.Tensor]]:
        relocation = Relocation(dtypes=WIDER)
        return relocation(original), relocation.storages()

    scales = magnitudes(lambda arguments: run_wide(arguments).values(), wide_copy, references)
    return first_problem(scales, with_peer=True)


def _label(outcome: Outcome, at: int) -> str:
    outputs = len(outcome.leaves())
    return f"output {at}" if at < outputs else f"argument {at - outputs} afterwards"


def _scale(magnitude: torch.Tensor | None, normwise: bool) -> torch.Tensor | None:
    if magnitude is None or not normwise or magnitude.numel() == 0:
        return magnitude
    return torch.full_like(magnitude, float(magnitude.nan_to_num(0, 0, 0).max()))


def is_random(call: Call, original: Arguments, cpu: Outcome) -> bool:
    """Return True if the CPU's result depends on the seed, and on nothing else."""

    def repeats(seed: int) -> bool:
        other = run(call, Relocation()(original), seed=seed).values()
        return all(_equal(have, want) for have, want in zip(other, cpu.values(), strict=True))

    return repeats(SEED) and not all(repeats(SEED + other) for other in range(1, OTHER_SEEDS + 1))


def _equal(have: Any, want: Any) -> bool:
    if isinstance(want, torch.Tensor):
        return have.shape == want.shape and same_values(to_host(have), to_host(want))
    return bool(have == want) or (have != have and want != want)


def check_forward(op: Any, dtype: torch.dtype, device: str, limit: int | None = None) -> Report:
    """Check samples of ``op`` in ``dtype``, as a function: all, or ``limit`` of them."""
    report = Report(f"{full_name(op)} {dtype}")

    def call(arguments: Arguments) -> Any:
        first, args, kwargs = arguments
        return op(first, *args, **kwargs)

    judgement = Judgement.of(op)
    for at, original in enumerate(samples_of(op, dtype, limit)):
        problem, refused = compare_calls(call, original, judgement, device)
        report.samples += 1
        report.refused += refused
        report.add(at, original, problem)
    return report

"""Tests of patterns with their examples on the current device."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch.utils._pytree import tree_flatten, tree_map

from dl_dicp.patterns.pattern import Case, Pattern
from dl_dicp.program.agreement import slack
from dl_dicp.statistics import statistics


def problems_of(pattern: Pattern) -> Iterator[str]:
    """Yield a sentence for each problem of a pattern.

    A pattern must fire on its examples and decline for each of its conditions. Its results must
    agree with float64 within the bound of the dtype.
    """
    cases = pattern.cases()
    for place, case in enumerate(cases.fires):
        yield from _run(pattern, f"example {place}", case, None)
    for condition, case in cases.declines.items():
        if condition not in pattern.conditions:
            yield f"{pattern.name}: {condition!r} is not one of its conditions"
        else:
            yield from _run(
                pattern, f"the counterexample of {condition!r}", case, pattern.conditions[condition]
            )
    for condition in pattern.conditions.keys() - cases.declines.keys():
        yield f"{pattern.name}: no counterexample shows the condition {condition!r}"


def _run(pattern: Pattern, what: str, case: Case, why: str | None) -> Iterator[str]:
    torch._dynamo.reset()
    torch.manual_seed(0)
    arguments = case.arguments()
    given = [x.to("dl") for x in arguments]
    options: dict[str, Any] = {"patterns": [pattern.name]}
    compiled = torch.compile(case.function, backend="dl", options=options)
    before = statistics.snapshot()
    with torch.no_grad():
        compiled(*given)
        made = compiled(*given)
        eager = case.function(*given)
        wanted = case.function(*tree_map(_wide, arguments))
    after = statistics.snapshot()
    fired = after.patterns[pattern.name] - before.patterns[pattern.name]
    declined = [
        reason
        for (name, reason), count in (after.declined - before.declined).items()
        if name == pattern.name and count
    ]
    if after.eager != before.eager:
        yield f"{pattern.name}: {what} ran eagerly: {dict(after.eager - before.eager)}"
    if why is None and not fired:
        yield f"{pattern.name}: {what} was not rewritten; declined: {declined or 'nothing'}"
    if why is not None and (fired or why not in declined):
        yield f"{pattern.name}: {what} was rewritten {fired} times; declined: {declined}"
    yield from (f"{pattern.name}: {what}: {each}" for each in _differences(made, eager, wanted))


def _wide(x: Any) -> Any:
    return x.double() if isinstance(x, torch.Tensor) and x.is_floating_point() else x


def _differences(made: Any, eager: Any, wanted: Any) -> Iterator[str]:
    """Describe the results whose error relative to float64 is more than twice the eager error."""
    leaves: list[Sequence[torch.Tensor]] = [tree_flatten(x)[0] for x in (made, eager, wanted)]
    for place, (one, other, right) in enumerate(zip(*leaves, strict=True)):
        if one.shape != other.shape or one.dtype != other.dtype:
            yield f"result {place} differs from the eager one in shape or dtype"
            continue
        error = (one.cpu().double() - right.double()).abs().max()
        allowed = 2 * (other.cpu().double() - right.double()).abs().max()
        bound = float(allowed) + slack(right.double(), one.dtype, steps=4)
        if not float(error) <= bound:
            yield f"result {place} differs from float64 by {float(error):.3g}, allowed {bound:.3g}"

"""Operators in which the program dies or hangs. Imports no torch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from dl_optools.breadcrumbs.names import SYNCHRONOUS_VARIABLE
from dl_optools.breadcrumbs.trail import DeadOperator
from dl_optools.diagnosis.runs import Run, Runner
from dl_optools.launching.launch import LEVEL_VARIABLE, exact_patterns

MOST = 3
"""Maximum number of operators in which a program dies, one after the other."""


def move_to_host(tools: str, operators: Sequence[str]) -> tuple[str, dict[str, str]]:
    """Return tools and variables of a run in which operators are on the CPU."""
    if not operators:
        return tools, {}
    variables = {"OP_FALLBACK_LIST": exact_patterns(operators), LEVEL_VARIABLE: "dispatch"}
    return ",".join(filter(None, ("fallback", tools))), variables


def confirm(
    runner: Runner,
    run: Run,
    operators: Sequence[str],
    say: Callable[[str], object],
    tools: str = "",
    repeat: Callable[[], Run] | None = None,
) -> tuple[DeadOperator | None, list[str]]:
    """Return the operator in which two runs have died, and facts for the report.

    The further runs have no other tools, which could be at fault, and wait for every
    operator: a device that computes in the background fails while another operator runs.

    :param run: the first run that died; its :attr:`.Run.dead` is set.
    :param operators: operators that run on the CPU.
    :param tools: tools that may have caused the run to die.
    :param repeat: runs the program as in the first run, for operators that die only after more
        calls than the program makes: tools call some twice.
    """
    assert run.dead is not None
    deaths = [run.dead]
    for _ in range(2):
        say(f"the program was {run.dead.text()}; one more run without other tools\n")
        names, variables = move_to_host(tools, operators)
        run = runner.run(names, **variables, **{SYNCHRONOUS_VARIABLE: "1"})
        if runner.stopped:
            break
        if run.dead is None:
            run = replace(run, dead=deaths[-1])
            continue
        deaths.append(run.dead)
        same = [each for each in deaths if each.name == run.dead.name]
        if len(same) > 1:
            return run.dead, []
    if len(deaths) == 1 and repeat is not None and not runner.stopped:
        run = repeat()
        if run.dead is not None and run.dead.name == deaths[0].name:
            return run.dead, []
    descriptions = "; ".join(each.text() for each in deaths)
    return None, [f"no two runs died in the same operator: {descriptions}"]

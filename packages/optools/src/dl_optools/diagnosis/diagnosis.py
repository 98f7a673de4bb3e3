"""Search for the wrong operators of a program: a sequence of runs, and conclusions from them.

1. All operators, sampled: each is compared with the CPU's float64 and called twice, and the draws
   of random ones are tested against their distribution.
2. Every call of every operator: the findings of the first run may be consequences of another
   fault, and are not sufficient to blame another operator. ``quick``: only the suspected operators.
3. If the program printed nan or inf, or a gradient has them: the operator that first made one of
   finite values. Operators of a gradient may each be right where its formula overflows, so the
   gradient as a whole is compared with the CPU's.
4. The first wrong call of each guilty operator, replayed alone from its bundle.
5. If the program is wrong and no operator was found: a bisection.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from dl_optools.bisect.verdict import Criteria
from dl_optools.compare.compare_page import merge_ranks, to_float
from dl_optools.diagnosis.bad_gradients import (
    describe_sources,
    find_sources,
    variables_for,
    wrong_gradients,
)
from dl_optools.diagnosis.coverage import Coverage, coverage_of
from dl_optools.diagnosis.deaths import MOST, confirm, move_to_host
from dl_optools.diagnosis.graphs import check_graphs
from dl_optools.diagnosis.inside import base, causes
from dl_optools.diagnosis.names import EVERY_VARIABLE, INSIDE_VARIABLE, PROBE
from dl_optools.diagnosis.runs import Run, Runner
from dl_optools.launching.launch import DEVICE_VARIABLE, TIMED_OUT, exact_patterns
from dl_optools.launching.lifetime import describe_end
from dl_optools.launching.unseen_notes import unseen_of

LAST_LINES = 12
"""Number of last lines shown of a program that fails."""
_NOT_FINITE = re.compile(r"(?<![\w.])[-+]?(?:nan|inf|infinity)(?![\w.])", re.IGNORECASE)


@dataclass
class Guilty:
    """An operator that is wrong.

    :ivar evidence: sentences, the most informative one first.
    :ivar bundle: bundle of its first wrong call; None: there is none.
    :ivar alone: True if that call is also wrong when replayed alone; None: not tried.
    :ivar script: script that reproduces it; None: there is none.
    :ivar returns: False: the program dies or hangs in it.
    """

    name: str
    evidence: list[str] = field(default_factory=list)
    bundle: Path | None = None
    alone: bool | None = None
    script: Path | None = None
    returns: bool = True


@dataclass
class Diagnosis:
    """Result of a diagnosis.

    :ivar status: the program's own exit status under the tools.
    :ivar ending: if the status is not 0, the last lines of the program's output.
    :ivar log: if the status is not 0, the file with all of the program's output.
    :ivar devices: types of the devices whose operators were checked.
    :ivar accelerated: at least one checked device is not a CPU, or was requested.
    :ivar only_on_device: operators that the CPU cannot compute instead.
    :ivar affected: operators that are wrong because they call a guilty one internally.
    :ivar notes: observations that are not part of the verdict: bitwise irreproducible operators,
        nan and inf.
    :ivar overflow: cause of nan or inf in gradients if no operator is at fault; otherwise empty.
    :ivar unable: why there is no verdict; empty if there is a verdict.
    :ivar ranks: number of processes that called operators.
    :ivar sampled: of the operators that the first run did not blame, only samples were checked.
    :ivar compiled: operators and graphs that are wrong in compiled graphs only.
    :ivar unchecked: what was not checked, as a part of the verdict; empty if nothing.
    :ivar stopped: the user stopped the diagnosis before everything was checked.
    """

    command: list[str]
    folder: Path
    status: int = 0
    ending: list[str] = field(default_factory=list)
    log: Path | None = None
    devices: list[str] = field(default_factory=list)
    accelerated: bool = True
    only_on_device: set[str] = field(default_factory=set)
    guilty: list[Guilty] = field(default_factory=list)
    affected: list[Guilty] = field(default_factory=list)
    coverage: Coverage = field(default_factory=Coverage)
    notes: list[str] = field(default_factory=list)
    overflow: str = ""
    unable: str = ""
    ranks: int = 0
    compiled: set[str] = field(default_factory=set)
    unchecked: str = ""
    stopped: bool = False
    sampled: bool = False


def diagnose(
    runner: Runner,
    say: Callable[[str], object],
    *,
    quick: bool = False,
    criteria: Criteria | None = None,
) -> Diagnosis:
    """Run the diagnosis that the module describes.

    :param quick: in step 2 check only operators that step 1 found wrong, and skip the step if there
        are none.
    :param criteria: criteria whose metric a program that ends normally has to print.
    :raises CriterionError: it did not print the metric.
    :raises OSError: the program cannot be run.
    """
    found = Diagnosis(runner.command, runner.folder, sampled=quick)
    say("run 1: every operator, sampled\n")
    # The user waits for the result anyway, so all steps are checked.
    watching = {"OP_AUTOCOMPARE_BUDGET": "off"}
    first, on_host = _first(runner, found, watching, say)
    found.status = first.status
    if first.status:
        found.log = first.log
        found.ending = _ending(first.output)
    elif criteria is not None and criteria.number(first.output) is None:
        raise criteria.missing_metric_error(first.output)
    probes = first.reports(PROBE)
    found.devices = sorted({x.found["device"] for x in probes})
    found.accelerated = DEVICE_VARIABLE in runner.environ or found.devices != ["cpu"]
    found.only_on_device |= {name for x in probes for name in x.found["only_on_device"]}
    accused, suspected = _collect_accusations(first), _collect_unequal(first)
    runs = [first]
    if runner.stopped:
        found.unable, found.stopped = "it was stopped in its first run", True
        if first.dead is not None:
            found.unable += f", {first.dead.text().removeprefix('stopped ')}"
        return found
    if first.raised and first.status and not found.guilty:
        found.notes.append(f"the last operator that raised an error: {first.raised}")
    if _is_blind(first, found):
        return found
    suspects = list(dict.fromkeys([*accused, *suspected])) if accused else []
    if suspects or not quick:
        say(f"run 2: every call of {', '.join(suspects) if quick else 'all operators'}\n")
        variables = {**watching, "AUTOCOMPARE_EVERY": "1", EVERY_VARIABLE: "1"}
        if quick:
            variables |= {
                "OP_AUTOCOMPARE_LIST": exact_patterns(suspects),
                "OP_PROBE_LIST": exact_patterns(suspects),
            }
        tools, more = move_to_host(f"compare,{PROBE}", on_host)
        second = partial(runner.run, tools, **variables, **more)
        runs.append(second())
        if runs[-1].dead is not None and not runner.stopped:
            _add_dead(runner, found, runs[-1], on_host, say, second)
    graphs = check_graphs(runner, first, say)
    found.unchecked = graphs.unchecked
    found.notes += graphs.notes
    found.stopped = bool(runner.stopped)
    for run in runs:
        for name, evidence in _collect_accusations(run).items():
            one = next((x for x in found.guilty if x.name == name), None)
            if one is None:
                one = Guilty(name)
                found.guilty.append(one)
            # The complete check is more reliable than the sample.
            one.evidence = evidence
            one.bundle = one.bundle or _bundle(run, name)
    # Operators that are wrong by themselves are also wrong in graphs.
    if not found.guilty:
        found.guilty = [Guilty(name, [problem]) for name, problem in graphs.wrong.items()]
        found.compiled = set(graphs.wrong)
    if graphs.dead is not None and all(x.name != graphs.dead.name for x in found.guilty):
        death = f"in two runs the program was {graphs.dead.text()}"
        found.guilty.append(Guilty(graphs.dead.name, [death], returns=False))
        found.compiled.add(graphs.dead.name)
    _find_causes(runner, found, say)
    found.ranks = len(first.reports("compare"))
    found.coverage = coverage_of(runs)
    if not found.guilty and found.coverage.unseen > sum(found.coverage.calls.values()):
        found.unable = "; ".join(x.text() for x in unseen_of(first.notes))
    found.notes += _notes(runs)
    found.notes += [
        f"run {number} {describe_end(run.status)}, which run 1 did not; its output: {run.log}"
        for number, run in enumerate(runs, 1)
        if run.status != first.status and not (runner.stopped and run is runs[-1])
    ]
    printed = bool(_NOT_FINITE.search(first.output))
    if printed or any(x.found["bad_gradients"] for run in runs for x in run.reports(PROBE)):
        say("one more run: find the source of nan and inf\n")
        run = runner.run("overflow")
        found.notes += _overflow(run, printed=printed)
        if not found.guilty:
            _judge_gradients(runner, found, run, say)
    for each in found.guilty:
        _replay_alone(runner, each)
    return found


def _first(
    runner: Runner, found: Diagnosis, variables: dict[str, str], say: Callable[[str], object]
) -> tuple[Run, list[str]]:
    """Run the program with all tools, moving operators in which it dies to the CPU.

    :returns: the last of these runs, and the operators on the CPU.
    """
    on_host: list[str] = []
    while True:
        tools, more = move_to_host(f"compare,{PROBE}", on_host)
        again = partial(runner.run, tools, **variables, **more)
        run = again()
        if on_host and not run.status:
            found.guilty[-1].evidence.append("with it on the CPU the program ends normally")
        if run.dead is None or runner.stopped or len(found.guilty) == MOST:
            return run, on_host
        name = _add_dead(runner, found, run, on_host, say, again)
        if name is None or name in found.only_on_device:
            return run, on_host
        on_host.append(name)
        say(f"run 1 again: with {' and '.join(on_host)} on the CPU\n")


def _add_dead(
    runner: Runner,
    found: Diagnosis,
    run: Run,
    on_host: list[str],
    say: Callable[[str], object],
    repeat: Callable[[], Run],
) -> str | None:
    """Name the operator in which a run died; None if it cannot be named."""
    dead, notes = confirm(runner, run, on_host, say, repeat=repeat)
    found.notes += notes
    if dead is None or any(x.name == dead.name for x in found.guilty):
        return None
    evidence = [f"in two runs the program was {dead.text()} (call {dead.crumb.number})"]
    found.guilty.append(Guilty(dead.name, evidence, returns=False))
    if dead.crumb.only_on_device:
        found.only_on_device.add(dead.name)
    return dead.name


def _find_causes(runner: Runner, found: Diagnosis, say: Callable[[str], object]) -> None:
    """Find the wrong operators that call another wrong one internally."""
    wrong = [x.name for x in found.guilty if x.returns and x.name not in found.compiled]
    if len(wrong) < 2 or runner.stopped:
        return
    say("one more run: find wrong operators that call another wrong one internally\n")
    run = runner.run(PROBE, **{"OP_PROBE_LIST": exact_patterns(wrong), INSIDE_VARIABLE: "1"})
    inside: dict[str, set[str]] = {}
    for each in run.reports(PROBE):
        for name, names in each.found["inside"].items():
            inside.setdefault(name, set()).update(names)
    for name, cause in causes(wrong, inside).items():
        one = next(x for x in found.guilty if x.name == name)
        found.guilty.remove(one)
        one.evidence.insert(0, f"it calls {base(cause)} internally, as {cause} does")
        found.affected.append(one)


def _ending(output: str) -> list[str]:
    """Return the last lines of an output, without stack frames of the fork server."""
    lines, ours = [], False
    for line in output.splitlines():
        if line.startswith('  File "'):
            ours = 'fork_server.py"' in line or '"<frozen runpy>"' in line
        elif not line.startswith("    "):
            ours = False
        if line.strip() and not ours:
            lines.append(line)
    return lines[-LAST_LINES:]


def _is_blind(run: Run, found: Diagnosis) -> bool:
    reports = run.reports("compare")
    if run.problems:
        found.unable = run.problems[0]
    elif run.status == TIMED_OUT:
        found.unable = "the program took too long and was killed"
    elif not reports and run.status:
        found.unable = f"the program {describe_end(run.status)} before tools had a result"
    elif not reports and run.lost:
        found.unable = run.lost
    elif not any(x.found["checked"] for x in reports) and not _collect_accusations(run):
        blind = "; ".join(x.text() for x in unseen_of(run.notes))
        found.unable = blind or (
            "no operator with a reference ran on the device; does the program use it? "
            "--device names another device"
        )
    return bool(found.unable)


def _collect_accusations(run: Run) -> dict[str, list[str]]:
    """Return the wrong operators with the evidence of this run."""
    found: dict[str, list[str]] = {}
    reports = run.reports("compare")
    for name, each in merge_ranks([(x.label, x.found) for x in reports]).items():
        if not each["failed"]:
            continue
        evidence = next(x.found["failures"][name] for x in reports if name in x.found["failures"])
        ranks = f", on {', '.join(each['ranks'])}" if 0 < len(each["ranks"]) < len(reports) else ""
        found[name] = [
            f"{each['failed']} of {each['checked']} comparisons with the CPU's float64 are wrong, "
            f"by up to {to_float(each['units']):.3g} x the rounding bound{ranks}",
            evidence,
        ]
    for each_report in run.reports(PROBE):
        for name, problem in each_report.found["wrong"].items():
            found.setdefault(name, []).append(problem)
    return found


def _collect_unequal(run: Run) -> list[str]:
    return [name for x in run.reports(PROBE) for name in x.found["unequal"]]


def _bundle(run: Run, name: str) -> Path | None:
    for each in run.reports("compare"):
        if name in each.found["bundles"]:
            return Path(each.found["bundles"][name])
    return None


def _notes(runs: list[Run]) -> list[str]:
    lines: dict[str, str] = {}
    for run in runs:
        for each in run.reports(PROBE):
            for name, one in each.found["unequal"].items():
                lines[name] = (
                    f"{name}: repeated with the same arguments, {one['calls']} calls differ, by up "
                    f"to {one['units']:.3g} eps of the largest value: "
                    "runs are not bitwise reproducible"
                )
    return list(lines.values())


def _overflow(run: Run, *, printed: bool) -> list[str]:
    evidence = [x.found["description"] for x in run.reports("overflow") if x.found["description"]]
    if evidence:
        return [f"nan or inf first appeared here: {evidence[0]}"]
    if printed:
        return ["the program printed nan or inf, but no operator made one from finite values"]
    return ["nan or inf appeared within a gradient, which does not contain them"]


def _judge_gradients(
    runner: Runner, found: Diagnosis, overflow: Run, say: Callable[[str], object]
) -> None:
    """Accuse functions whose gradient is nan or inf on this device only, or explain it.

    :param overflow: a run with the overflow check.
    """
    names = find_sources(overflow.reports("overflow"))
    if not names or runner.stopped:
        return
    say(f"one more run: compare the gradients of {', '.join(names)} as a whole\n")
    run = runner.run("compare", **variables_for(names))
    for name, evidence in wrong_gradients(run.reports("compare")).items():
        found.guilty.append(Guilty(name, [evidence], _bundle(run, name)))
    if not found.guilty:
        found.overflow = describe_sources(names)


def _wrong_here(table: str) -> bool:
    """Return True if the replay's result was wrong, not only the recorded one."""
    row = next((x.split() for x in table.splitlines() if " WRONG " in f" {x} "), [])
    if "WRONG" not in row:
        return True
    here = row[row.index("WRONG") + 1 :][:1]
    try:
        return not float(here[0]) <= 1
    except (IndexError, ValueError):
        return True


def _replay_alone(runner: Runner, each: Guilty) -> None:
    """Replay the first wrong call, and export a script for it."""
    if each.bundle is None:
        return
    done = runner.dl("replay", str(each.bundle), "--check")
    if done.returncode in (0, 1):
        each.alone = done.returncode == 1 and _wrong_here(done.stdout)
    script = runner.folder / f"repro_{re.sub(r'[^A-Za-z0-9]+', '_', each.name)}.py"
    made = runner.dl("bundle", "to-repro", str(each.bundle), str(script))
    if made.returncode == 0:
        each.script = script

"""``dl tool``: run a program with tools on, without changing it."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from diopi_proto.text import printable, write_error
from dl_core.commands import Command
from dl_core.errors import OutputError
from dl_core.files import add_force, check_free, write_text
from dl_optools.compare.compare_page import compare_page, merge_ranks
from dl_optools.environment import environment
from dl_optools.launching.baseline import (
    BaselineError,
    Document,
    document_of,
    find_regressions,
    find_slowdowns,
)
from dl_optools.launching.baseline import read as read_baseline
from dl_optools.launching.launch import (
    DEVICE_VARIABLE,
    LEVEL_VARIABLE,
    NOT_FOUND,
    TOOL_NAMES,
    TOOLS_VARIABLE,
    WHY_NONE,
    WRONG_USE,
    ToolName,
    UnknownToolError,
    complaints,
    describe_lost,
    program_of,
    run_program,
    tools_of,
)
from dl_optools.launching.lifetime import stopped_by_sigterm
from dl_optools.launching.merging import (
    compare_text,
    format_stayed,
    overflow_text,
    seconds_of,
    time_text,
    working_reports,
)
from dl_optools.launching.notes import VARIABLE as NOTES_VARIABLE
from dl_optools.launching.notes import Notes
from dl_optools.launching.plugin_tools import PluginTools
from dl_optools.launching.reports import reports_of
from dl_optools.launching.unmatched import unmatched_of
from dl_optools.launching.unseen_notes import unseen_calls, unseen_of
from dl_optools.launching.variables import explain_misspelling
from dl_optools.outputs import VARIABLE as OUTPUT_VARIABLE
from dl_optools.outputs import results_root, run_stamp, unused_path


@dataclass(frozen=True)
class _Option:
    """An option that becomes a variable of the program.

    :ivar variable: its name; ``{}`` stands for the variable part of the tool's name.
    :ivar tools: tools that it applies to; empty: all.
    :ivar switch: it has no value; the variable becomes 1.
    """

    flag: str
    metavar: str
    variable: str
    help: str
    tools: tuple[str, ...] = ()
    switch: bool = False

    @property
    def key(self) -> str:
        return self.flag.removeprefix("--").replace("-", "_")

    def variables(self, tools: list[ToolName]) -> list[str]:
        # Tools of plugins have variables of their own, set with --set.
        known = [x for x in tools if x.home or self.variable == OUTPUT_VARIABLE]
        fitting = [x for x in known if not self.tools or x.name in self.tools]
        return list(dict.fromkeys(self.variable.format(x.variable) for x in fitting))


_OPTIONS = (
    _Option("--list", "OPS", "OP_{}_LIST", "names or regular expressions of operators"),
    _Option("--exclude", "OPS", "OP_{}_DISABLE_LIST", "operators to leave out"),
    _Option("--level", "LEVEL", LEVEL_VARIABLE, "api: torch's functions; dispatch: overloads"),
    _Option("--device", "TYPE", DEVICE_VARIABLE, "device type (default: the accelerator)"),
    _Option("--output", "FOLDER", OUTPUT_VARIABLE, "folder for the results"),
    _Option("--every", "N", "OP_{}_EVERY", "examine every n-th step", ("time", "observe")),
    _Option(
        "--budget",
        "PERCENT",
        "OP_{}_BUDGET",
        "maximum share of step time in percent; off: examine all steps",
        ("time", "observe", "compare"),
    ),
    _Option("--sample", "N", "AUTOCOMPARE_EVERY", "check every n-th call", ("compare",)),
    _Option(
        "--tolerance",
        "ATOL,RTOL",
        "AUTOCOMPARE_ERROR_TOLERANCE",
        "tolerance that replaces the rounding bound",
        ("compare",),
    ),
    _Option(
        "--bundles",
        "N",
        "AUTOCOMPARE_BUNDLES",
        "number of operators whose first wrong call is kept",
        ("compare",),
    ),
    _Option(
        "--trace", "", "OP_TIME_MEASURE_TRACE", "write a timeline for Perfetto", ("time",), True
    ),
    _Option("--memory", "BYTES", "OP_CAPTURE_MEMORY", "maximum size of the queue", ("capture",)),
    _Option("--disk", "BYTES", "OP_CAPTURE_DISK", "maximum size of files", ("capture", "compare")),
    _Option("--when-full", "WHAT", "OP_CAPTURE_WHEN_FULL", "wait or drop", ("capture",)),
    _Option(
        "--dtypes",
        "FROM->TO,...",
        "OP_DTYPE_CAST_DICT",
        "dtypes to compute in",
        ("cast", "compare"),
    ),
)


FOUND_WRONG = 1
"""Exit status if the program ended normally and ``compare`` found something wrong."""


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--baseline",
        metavar="FILE",
        help="exit code 1 if an operator is worse than in an earlier run (compare, time)",
    )
    parser.add_argument(
        "--save-baseline", type=Path, metavar="FILE", help="write a baseline (compare, time)"
    )
    add_force(parser)
    for option in _OPTIONS:
        only = f" ({', '.join(option.tools)})" if option.tools else ""
        if option.switch:
            parser.add_argument(
                option.flag, action="store_const", const="1", help=option.help + only
            )
            continue
        allowed = ("api", "dispatch") if option.flag == "--level" else None
        parser.add_argument(
            option.flag, metavar=option.metavar, choices=allowed, help=option.help + only
        )
    parser.add_argument(
        "--set",
        action="append",
        metavar="NAME=VALUE",
        help="any other variable of the program; may be given several times",
    )


def _configure(parser: argparse.ArgumentParser) -> None:
    parser.usage = "dl tool NAME[,NAME...] [options] -- PROGRAM [arguments]"
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    tools = (*TOOL_NAMES, *PluginTools().names())
    # argparse would expand %(prog) in the help texts of plugins.
    parser.epilog = "tools:\n" + "\n".join(
        f"  {x.name:<9} {printable(x.help)}".replace("%(prog)", "(prog)") for x in tools
    )
    parser.add_argument("name", help="name of a tool, or several separated by commas")
    _add_options(parser)
    parser.add_argument("rest", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)


def _run(arguments: argparse.Namespace) -> int:
    given, program = program_of(arguments.rest)
    again = argparse.ArgumentParser(prog="dl tool", add_help=False)
    _add_options(again)
    again.parse_args(given, arguments)
    others = PluginTools()
    for problem in others.problems:
        sys.stderr.write(printable(f"dl tool: {problem}") + "\n")
    try:
        tools = tools_of(arguments.name, others.names())
    except UnknownToolError as error:
        return _refuse(str(error))
    if not program:
        return _refuse("no program given, as in `dl tool capture -- python train.py`")
    try:
        variables = variables_of(arguments, tools)
    except ValueError as error:
        return _refuse(str(error))
    try:
        gate = gate_of(arguments, tools)
    except (BaselineError, OutputError) as error:
        return _refuse(str(error))
    return launch(program, {**environment(), **variables}, write_error, gate)


@dataclass(frozen=True)
class Gate:
    """Baseline that ``compare`` or ``time`` has to meet.

    :ivar before: the baseline's document by tool; empty: no baseline.
    :ivar keep: path for the results as a new baseline; None: not written.
    """

    before: Document = field(default_factory=dict)
    keep: Path | None = None
    force: bool = False


def gate_of(arguments: argparse.Namespace, tools: list[ToolName]) -> Gate:
    """Return the gate that the command line requests for ``compare`` and ``time``.

    :raises BaselineError: the file is not a baseline, or its tool does not run.
    :raises OutputError: the output file already exists.
    """
    given = arguments.baseline or arguments.save_baseline
    names = {x.name for x in tools}
    if given and not names & {"compare", "time"}:
        raise BaselineError("--baseline and --save-baseline are for compare and time")
    if arguments.save_baseline:
        check_free([arguments.save_baseline], arguments.force)
        _check_writable(arguments.save_baseline)
    before = {} if arguments.baseline is None else read_baseline(Path(arguments.baseline))
    if before and not names & before.keys():
        raise BaselineError(
            f"{arguments.baseline} is a baseline of {' and '.join(sorted(before))}, which does not "
            "run here"
        )
    return Gate(before, arguments.save_baseline, arguments.force)


def _check_writable(path: Path) -> None:
    """Check that a file can be written now, rather than fail when the program has ended.

    :raises OutputError: it cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path.parent) as file:
            file.write(b"x")
    except OSError as error:
        raise OutputError(f"{path} cannot be written: {error.strerror or error}") from None


def variables_of(arguments: argparse.Namespace, tools: list[ToolName]) -> dict[str, str]:
    """Return the command line as variables of the program.

    :raises ValueError: an option applies to none of the tools.
    """
    found = {TOOLS_VARIABLE: ",".join(tool.name for tool in tools)}
    for option in _OPTIONS:
        value = getattr(arguments, option.key)
        if value is None:
            continue
        names = option.variables(tools)
        if not names:
            whose = ", ".join(option.tools or [x.name for x in TOOL_NAMES])
            raise ValueError(f"{option.flag} is for {whose}")
        found.update(dict.fromkeys(names, value))
    for pair in arguments.set or ():
        name, equals, value = pair.partition("=")
        if not equals or not name:
            raise ValueError(f"--set {pair}: write NAME=VALUE")
        # The variables of plugins' tools are unknown here.
        if all(x.home for x in tools) and (problem := explain_misspelling(name)):
            raise ValueError(f"--set {pair}: {problem}")
        found[name] = value
    return found


def launch(
    program: list[str],
    environ: dict[str, str],
    say: Callable[[str], object],
    gate: Gate | None = None,
) -> int:
    """Run a program with the tools of its environment, and report which ran and their results.

    :returns: the program's exit status; if that is 0, :data:`WRONG_USE` if a tool did not run, saw
        no operator of its list, compared nothing, or could not make a named operator fall back;
        else :data:`FOUND_WRONG` if ``compare`` found a wrong operator or, with a baseline, one
        that is worse than before.
    """
    root = results_root(environ).resolve()
    # The program may change its directory; results stay in one folder.
    environ = {**environ, OUTPUT_VARIABLE: str(root)}
    before = _files(root)
    try:
        with Notes() as notes:
            environ[NOTES_VARIABLE] = str(notes.path)
            try:
                with stopped_by_sigterm():
                    status = run_program(program, environ)
            except OSError as error:
                return _refuse(f"{program[0]}: {error.strerror or error}", NOT_FOUND)
            lines = notes.lines()
    except OSError as error:
        return _refuse(f"the tools' notes cannot be stored: {error}")
    wrong = not lines
    for line in complaints(lines):
        wrong = True
        say(f"dl tool: {line}\n")
    if losses := describe_lost(lines):
        wrong = True
        say(f"dl tool: {losses}\n")
    for blind in unseen_of(lines):
        say(f"dl tool: {blind.text()}\n")
    for found in unmatched_of(lines):
        wrong |= found.everything
        for line in found.texts():
            say(f"dl tool: {line}\n")
    for line in format_stayed(
        {n for x in reports_of(lines, "fallback") for n in x.found["stayed"]}
    ):
        wrong = True
        say(f"dl tool: {line}\n")
    if DEVICE_VARIABLE not in environ and any(
        x.found["device"] == "cpu" for x in working_reports(reports_of(lines, "compare"))
    ):
        say(
            "dl tool: no accelerator found: compare examined the CPU; --device names another "
            "device\n"
        )
    judged = _report_results(lines, root, say, gate or Gate())
    wrong |= judged == WRONG_USE
    if not lines:
        say(f"dl tool: no tool ran. {WHY_NONE}\n")
    elif _files(root) - before:
        say(f"dl tool: results are in {root}\n")
    return status or (WRONG_USE if wrong else judged)


def _report_results(lines: list[str], root: Path, say: Callable[[str], object], gate: Gate) -> int:
    """Report what all processes found together; return the exit status for it."""
    for tool, text in (("time", time_text), ("overflow", overflow_text)):
        say(text(reports_of(lines, tool)))
    timed = seconds_of(working_reports(reports_of(lines, "time")))
    status = 0
    if timed and "time" in gate.before:
        status = _report_regressions(
            find_slowdowns(gate.before["time"], timed), len(gate.before["time"]), say
        )
    reports = reports_of(lines, "compare")
    if not reports:
        return status if _write_baseline(gate, {"time": timed} if timed else {}, say) else WRONG_USE
    say(compare_text(reports))
    known = working_reports(reports)
    if len(known) > 1:
        path = unused_path(
            root / "op_autocompare_result" / f"op_autocompare_ranks_{run_stamp()}.html"
        )
        path.write_text(compare_page([(x.label, x.found) for x in known]), encoding="utf-8")
    operators = merge_ranks([(x.label, x.found) for x in reports])
    if not operators:
        return WRONG_USE
    if not _write_baseline(gate, {"compare": operators, **({"time": timed} if timed else {})}, say):
        return WRONG_USE
    if "compare" not in gate.before:
        if any(x["failed"] for x in operators.values()):
            return FOUND_WRONG
        # If most of the program was not observed, the result means nothing.
        blind = unseen_calls(lines, "compare") > sum(x.found["calls"] for x in known)
        return WRONG_USE if blind else status
    known_before = gate.before["compare"]
    return max(
        status,
        _report_regressions(find_regressions(known_before, operators), len(known_before), say),
    )


def _write_baseline(gate: Gate, found: Document, say: Callable[[str], object]) -> bool:
    """Write the requested baseline; return False if there is nothing to write, or it fails."""
    if gate.keep is None:
        return True
    if not found:
        say(f"dl tool: {gate.keep} is not written: no operator was compared or timed\n")
        return False
    try:
        write_text(gate.keep, document_of(found), gate.force)
    except OutputError as error:
        say(f"dl tool: {error}\n")
        return False
    return True


def _report_regressions(worse: list[str], count: int, say: Callable[[str], object]) -> int:
    for line in worse:
        say(f"dl tool: worse than the baseline: {line}\n")
    if not worse:
        say(f"dl tool: nothing is worse than the baseline, of {count} operators\n")
    return FOUND_WRONG if worse else 0


def _files(root: Path) -> set[tuple[Path, int]]:
    found = set()
    for folder, _, names in os.walk(root):
        for name in names:
            path = Path(folder) / name
            found.add((path, path.stat().st_mtime_ns))
    return found


def _refuse(text: str, status: int = WRONG_USE) -> int:
    write_error(f"dl tool: {text}\n")
    return status


TOOL = Command("tool", "run an unmodified program with operator tools", _configure, _run)

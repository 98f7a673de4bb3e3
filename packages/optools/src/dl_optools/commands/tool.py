"""``dl tool``: a program with tools on, without a change to it."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from diopi_proto.text import printable
from dl_core.commands import Command
from dl_optools.environment import environment
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
    program_of,
    run_program,
    tools_of,
)
from dl_optools.launching.notes import VARIABLE as NOTES_VARIABLE
from dl_optools.launching.notes import Notes
from dl_optools.launching.plugin_tools import PluginTools
from dl_optools.launching.unmet import unmet_of
from dl_optools.outputs import VARIABLE as OUTPUT_VARIABLE
from dl_optools.outputs import results_root


@dataclass(frozen=True)
class _Option:
    """An option that becomes a variable of the program.

    :ivar variable: its name; ``{}`` stands for the variable part of the tool's name.
    :ivar tools: that it belongs to; empty: all.
    """

    flag: str
    metavar: str
    variable: str
    help: str
    tools: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        return self.flag.removeprefix("--").replace("-", "_")

    def variables(self, tools: list[ToolName]) -> list[str]:
        # The tools of plugins have variables of their own, for --set.
        known = [x for x in tools if x.home or self.variable == OUTPUT_VARIABLE]
        fitting = [x for x in known if not self.tools or x.name in self.tools]
        return list(dict.fromkeys(self.variable.format(x.variable) for x in fitting))


_OPTIONS = (
    _Option("--list", "OPS", "OP_{}_LIST", "names or regular expressions of operators"),
    _Option("--exclude", "OPS", "OP_{}_DISABLE_LIST", "operators to leave out"),
    _Option("--level", "LEVEL", LEVEL_VARIABLE, "api: torch's functions; dispatch: overloads"),
    _Option("--device", "TYPE", DEVICE_VARIABLE, "type of the device to look at"),
    _Option("--output", "FOLDER", OUTPUT_VARIABLE, "where results go"),
    _Option("--every", "N", "OP_{}_EVERY", "look at every n-th step", ("time", "observe")),
    _Option("--budget", "PERCENT", "OP_{}_BUDGET", "of step time to take", ("time", "observe")),
    _Option("--sample", "N", "AUTOCOMPARE_EVERY", "check every n-th call", ("compare",)),
    _Option(
        "--tolerance",
        "ATOL,RTOL",
        "AUTOCOMPARE_ERROR_TOLERANCE",
        "instead of the rounding bound",
        ("compare",),
    ),
    _Option(
        "--bundles",
        "N",
        "AUTOCOMPARE_BUNDLES",
        "of as many operators keep the first wrong call",
        ("compare",),
    ),
    _Option("--memory", "BYTES", "OP_CAPTURE_MEMORY", "that may wait", ("capture",)),
    _Option("--disk", "BYTES", "OP_CAPTURE_DISK", "to write at most", ("capture", "compare")),
    _Option("--when-full", "WHAT", "OP_CAPTURE_WHEN_FULL", "wait or drop", ("capture",)),
    _Option(
        "--dtypes",
        "FROM->TO,...",
        "OP_DTYPE_CAST_DICT",
        "which dtype is computed in which",
        ("cast", "compare"),
    ),
)


def _add_options(parser: argparse.ArgumentParser) -> None:
    for option in _OPTIONS:
        only = f" ({', '.join(option.tools)})" if option.tools else ""
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
    # argparse would fill in the one field that it knows here.
    parser.epilog = "tools:\n" + "\n".join(
        f"  {x.name:<9} {printable(x.help)}".replace("%(prog)", "(prog)") for x in tools
    )
    parser.add_argument("name", help="of a tool, or several with commas")
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
        return _refuse("which program? `dl tool capture -- python train.py`")
    try:
        variables = variables_of(arguments, tools)
    except ValueError as error:
        return _refuse(str(error))
    return launch(program, {**environment(), **variables}, sys.stderr.write)


def variables_of(arguments: argparse.Namespace, tools: list[ToolName]) -> dict[str, str]:
    """What the command line says, as variables of the program.

    :raises ValueError: an option fits none of the tools.
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
        found[name] = value
    return found


def launch(program: list[str], environ: dict[str, str], say: Callable[[str], object]) -> int:
    """Run a program with the tools of its environment, and say which ran and where results are.

    :returns: the program's exit status; where that is 0, :data:`WRONG_USE` if a tool did not run,
        or met no operator of its list.
    """
    root = results_root(environ).resolve()
    # The program may change its directory; results stay together.
    environ = {**environ, OUTPUT_VARIABLE: str(root)}
    before = _files(root)
    try:
        with Notes() as notes:
            environ[NOTES_VARIABLE] = str(notes.path)
            try:
                status = run_program(program, environ)
            except OSError as error:
                return _refuse(f"{program[0]}: {error.strerror or error}", NOT_FOUND)
            lines = notes.lines()
    except OSError as error:
        return _refuse(f"tools have no place for their notes: {error}")
    wrong = not lines
    for line in complaints(lines):
        wrong = True
        say(f"dl tool: {line}\n")
    for found in unmet_of(lines):
        wrong |= found.everything
        for line in found.texts():
            say(f"dl tool: {line}\n")
    if not lines:
        say(f"dl tool: no tool ran. {WHY_NONE}\n")
    elif _files(root) - before:
        say(f"dl tool: results are in {root}\n")
    return status or (WRONG_USE if wrong else 0)


def _files(root: Path) -> set[tuple[Path, int]]:
    found = set()
    for folder, _, names in os.walk(root):
        for name in names:
            path = Path(folder) / name
            found.add((path, path.stat().st_mtime_ns))
    return found


def _refuse(text: str, status: int = WRONG_USE) -> int:
    sys.stderr.write(f"dl tool: {text}\n")
    return status


TOOL = Command("tool", "run a program with tools on, unchanged", _configure, _run)

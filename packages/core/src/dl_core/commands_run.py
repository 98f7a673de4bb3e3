"""``dl run``: run a script or module with the settings that put it on dl, or a contract graph
without torch.

The process replaces itself with a new interpreter, so that arguments, ``__main__``, the exit code,
signals and tracebacks are Python's own.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from importlib.util import find_spec

from diopi_proto.text import printable
from dl_core import config, installed, startup
from dl_core.commands import Command
from dl_core.environment import environment
from dl_core.foreign_output import output_to_errors

FRAMEWORKS: Mapping[str, str] = {
    # accelerate, and therefore transformers' Trainer, recognizes only the devices it knows by name.
    "ACCELERATE_TORCH_DEVICE": "dl",
}
"""Variables of frameworks that would otherwise use the CPU. Variables that the user has set stay
unchanged."""

GRAPH = ".dlg"
"""Suffix of the file name of a contract graph."""


def _configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--vendors",
        metavar="NAMES",
        help="comma-separated vendors, such as cuda,cpu (default: DL_VENDORS)",
    )
    parser.add_argument(
        "--fallback",
        choices=config.FALLBACK_MODES,
        help="action when an operator runs on the CPU (default: DL_FALLBACK)",
    )
    parser.add_argument(
        "--mock-cuda", action="store_true", help="run CUDA programs on dl (DL_MOCK_CUDA=1)"
    )
    program = parser.add_mutually_exclusive_group(required=True)
    rest = argparse.REMAINDER
    program.add_argument(
        "-m", dest="module", nargs=rest, metavar="MODULE", help="module to run, with its arguments"
    )
    program.add_argument(
        "script",
        nargs="?",
        help="script to run, with its arguments; or FILE.dlg INPUTS.npz [--entry NAME] "
        "[--output OUTPUTS.npz [--force]]",
    )
    parser.add_argument("arguments", nargs=rest, help=argparse.SUPPRESS)


def _run(arguments: argparse.Namespace) -> int:
    """Run the program; return only if it cannot be started."""
    variables = _variables(arguments, environment())
    if arguments.script is not None and arguments.script.endswith(GRAPH):
        return _run_graph(arguments, variables)
    # Check this before the program starts: its own error would only say that the device name is
    # unknown.
    problems = [*config.read(variables).problems, *obstacles(variables)]
    program = _program(arguments)
    if not program:
        problems.append("-m needs a module name.")
    for problem in problems:
        sys.stderr.write(printable(f"dl run: {problem}") + "\n")
    if not problems:
        sys.stdout.flush()
        sys.stderr.flush()
        os.execve(sys.executable, python_command(program), variables)
    return 2


def _run_graph(arguments: argparse.Namespace, variables: Mapping[str, str]) -> int:
    """Run a contract graph, which needs dl-graph and no torch."""
    if find_spec("dl_graph") is None:
        sys.stderr.write(f"dl run: {arguments.script} needs dl-graph: `pip install dl-graph`.\n")
        return 2
    from dl_graph.__main__ import main

    with output_to_errors():
        ready = startup.prepare(variables, None)
    if not ready.plan.order:
        sys.stderr.write(printable(" ".join(["dl run: no vendor:", *ready.plan.reasons])) + "\n")
        return 2
    library = ready.vendors[ready.plan.order[0]].library
    return main(["run", arguments.script, *arguments.arguments], "dl", library)


def _program(arguments: argparse.Namespace) -> list[str]:
    if arguments.module is not None:
        return ["-m", *arguments.module] if arguments.module else []
    return [arguments.script, *arguments.arguments]


def _variables(arguments: argparse.Namespace, environ: Mapping[str, str]) -> dict[str, str]:
    given = {
        "DL_VENDORS": arguments.vendors,
        "DL_FALLBACK": arguments.fallback,
        "DL_MOCK_CUDA": "1" if arguments.mock_cuda else None,
    }
    asked = {name: value for name, value in given.items() if value is not None}
    return {**FRAMEWORKS, **environ, **asked}


def python_command(program: Sequence[str]) -> list[str]:
    """Return the command of a program that a new interpreter runs, with this one's options."""
    flags = subprocess._args_from_interpreter_flags()  # type: ignore[attr-defined]
    return [sys.executable, *flags, *program]


def obstacles(variables: Mapping[str, str]) -> list[str]:
    """Return the reasons why the program would have no dl device."""
    torch = installed.torch_build()
    if torch is None:
        return ["the dl device needs torch: `pip install dl-core[torch]`."]
    if variables.get("TORCH_DEVICE_BACKEND_AUTOLOAD", "1") != "1":
        return ["TORCH_DEVICE_BACKEND_AUTOLOAD disables the dl device. Unset it."]
    with output_to_errors():
        ready = startup.prepare(variables, torch)
    if ready.plan.order:
        return []
    return [
        " ".join(["no dl device is visible.", *ready.plan.reasons, "Run `dl doctor` for details."])
    ]


RUN = Command(
    "run",
    "run a script or a module on dl, with the settings that frameworks need",
    _configure,
    _run,
)

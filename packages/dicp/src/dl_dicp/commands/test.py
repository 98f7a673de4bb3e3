"""``dl dicp test``: compare compiled and eager runs of torch's operators or of small models."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from diopi_proto.text import write_error, write_output

WRONG_USE = 2


def configure(commands: Any) -> None:
    """Add the subcommand ``test`` to ``dl dicp``."""
    parser = commands.add_parser(
        "test", help="compare compiled operators, models or patterns with eager runs on this device"
    )
    parser.description = (
        "Run torch's list of operators (OpInfo, float32), or small models, with "
        'torch.compile(backend="dl") and without on dl:0, and compare results, mutated arguments '
        "and gradients; or check patterns against their own examples. Exit code 1: a difference is "
        "not on the list of exceptions, or an exception on the list no longer differs."
    )
    parser.add_argument(
        "subject", choices=("ops", "models", "patterns"), help="programs to compile and compare"
    )
    parser.add_argument(
        "--dynamic",
        choices=("false", "true", "all"),
        default="false",
        help="compile for fixed sizes, for symbolic ones, or for both (default: false)",
    )
    parser.add_argument(
        "--engine",
        default="",
        metavar="NAME",
        help="engine for the graphs of ops or models, such as a plugin's (default: that of "
        "torch.compile); a graph that it accepts and then drops is a failure",
    )
    parser.add_argument(
        "--sample", default="1", metavar="N/SEED", help="run one test in N, chosen by the seed"
    )
    parser.add_argument(
        "-k", dest="text", default="", metavar="NAME", help="run tests with NAME in their name"
    )


def run(arguments: argparse.Namespace) -> int:
    """Run the tests; return the exit code."""
    from dl_dicp.testing.run import run_models, run_operators
    from dl_dicp.testing.selection import Selection, SelectionError

    try:
        selection = Selection.of(arguments.sample, arguments.text)
    except SelectionError as error:
        return _refuse(str(error))
    if problem := _no_device():
        return _refuse(problem)
    if problem := _engine_problem(arguments):
        return _refuse(problem)
    if arguments.subject == "patterns":
        return _patterns(selection.text)
    test = run_operators if arguments.subject == "ops" else run_models
    shapes = {"false": ["static"], "true": ["dynamic"], "all": ["static", "dynamic"]}
    try:
        totals = [
            test(each, selection, _say, arguments.engine) for each in shapes[arguments.dynamic]
        ]
    except (ModuleNotFoundError, OSError) as error:
        return _refuse(str(error))
    if not sum(each.tests for each in totals):
        return _refuse(f"--sample {arguments.sample} and -k '{arguments.text}' choose no test")
    return int(any(each.wrong for each in totals))


def _patterns(text: str) -> int:
    """Test every pattern with its examples; return the exit code."""
    from dl_dicp.patterns.registry import all_patterns
    from dl_dicp.testing.patterns import problems_of

    chosen = [each for name, each in all_patterns().items() if text in name]
    if not chosen:
        return _refuse(f"-k '{text}' chooses no pattern")
    wrong = 0
    for pattern in chosen:
        problems = list(problems_of(pattern))
        wrong += bool(problems)
        _say(f"{pattern.name}: {'wrong' if problems else 'correct'}")
        for problem in problems:
            _say(f"  {problem}")
    return int(bool(wrong))


def _say(line: str) -> None:
    write_output(f"{line}\n")
    sys.stdout.flush()


def _engine_problem(arguments: argparse.Namespace) -> str | None:
    from dl_dicp.engines import names

    if not arguments.engine:
        return None
    if arguments.subject == "patterns":
        return "--engine applies to ops and models; patterns are tested as graphs"
    if not names.is_known(arguments.engine):
        return f"--engine {arguments.engine}: unknown engine; available: {', '.join(names.names())}"
    return None


def _no_device() -> str | None:
    import torch

    if hasattr(torch, "dl") and torch.dl.is_available():
        return None
    return "there is no dl device; `dl doctor` explains why"


def _refuse(why: str) -> int:
    write_error(f"dl dicp test: {why}\n")
    return WRONG_USE

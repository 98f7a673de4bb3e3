"""``dl bisect``: find the operators that make a program wrong."""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from diopi_proto.text import write_error, write_output
from diopi_proto.trust import why_untrusted
from dl_core.commands import Command
from dl_core.files import add_force
from dl_optools.breadcrumbs.trail import DEFAULT_HANG
from dl_optools.environment import environment
from dl_optools.launching.launch import NOT_FOUND, exact_patterns, program_of
from dl_optools.launching.lifetime import exit_status, stopped_by_sigterm
from dl_optools.option_types import count, seconds, tolerance
from dl_optools.outputs import results_root, run_stamp

if TYPE_CHECKING:
    from dl_optools.bisect.bisection import Bisection
    from dl_optools.bisect.search import SearchResult
    from dl_optools.bisect.state import State

WRONG_USE = 2


def _configure(parser: argparse.ArgumentParser) -> None:
    parser.usage = "dl bisect [options] -- PROGRAM [arguments]"
    parser.epilog = (
        "A run is wrong if its exit status is not 0, or according to --expect, --metric, --finite "
        "and --tensor. Exit code: 0 if operators were found, 1 if none are to blame, 2 if the runs "
        "are inconclusive or arguments are invalid, 127 if the program does not exist."
    )
    parser.add_argument("--expect", metavar="REGEX", help="pattern that the output must match")
    parser.add_argument(
        "--metric",
        metavar="REGEX",
        help="pattern of a printed number that must match the CPU run: the text before the number, "
        "e.g. 'loss', or a pattern whose only group is the number",
    )
    parser.add_argument(
        "--tensor",
        metavar="REGEX",
        help="pattern for the names of tensors in the step that OneIter records, e.g. 'weight "
        "gradient'",
    )
    parser.add_argument(
        "--tolerance",
        type=tolerance,
        default=1e-3,
        metavar="X",
        help="relative tolerance (default: 0.001)",
    )
    parser.add_argument("--finite", action="store_true", help="count printed nan or inf as wrong")
    parser.add_argument("--timeout", type=seconds, metavar="SECONDS", help="maximum time of a run")
    parser.add_argument(
        "--hang",
        type=seconds,
        default=DEFAULT_HANG,
        metavar="SECONDS",
        help="maximum time of a single operator (default: 600)",
    )
    parser.add_argument(
        "--level",
        choices=("api", "dispatch"),
        default="dispatch",
        help="search functions of torch, with their backward (api), or overloads of the dispatcher "
        "(dispatch, the default)",
    )
    parser.add_argument("--device", metavar="TYPE", help="device type (default: the accelerator)")
    parser.add_argument("--resume", type=Path, metavar="FILE", help="state of a search to continue")
    parser.add_argument("--state", type=Path, metavar="FILE", help="path of the state file")
    add_force(parser)
    parser.add_argument(
        "--jobs", type=count, default=1, metavar="N", help="number of concurrent runs (default: 1)"
    )
    parser.add_argument(
        "--no-fork", action="store_true", help="start a new Python process for each run"
    )
    parser.add_argument("--no-capture", action="store_true", help="write no bundles at the end")
    parser.add_argument("rest", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)


def _run(arguments: argparse.Namespace) -> int:
    from dl_optools.bisect.accuracy import calls_are_right, format_message
    from dl_optools.bisect.bisection import Bisection
    from dl_optools.bisect.program_runner import ProgramRunner
    from dl_optools.bisect.runs import BisectError, BlamelessError, StuckError
    from dl_optools.bisect.state import StateError
    from dl_optools.bisect.verdict import CriterionError

    try:
        state, path = _state(arguments)
    except OSError as error:
        return _refuse(f"{error.filename}: {error.strerror}")
    except (StateError, CriterionError) as error:
        return _refuse(str(error))
    if not state.command:
        return _refuse("no program given, as in `dl bisect -- python train.py`")
    if shutil.which(state.command[0]) is None:
        return _refuse(f"{state.command[0]}: program not found", NOT_FOUND)
    runner = ProgramRunner(
        *(state.command, state.level, state.device, environment(), arguments.timeout),
        hang=arguments.hang,
        fork=not arguments.no_fork,
        say=write_error,
    )
    bisection = Bisection(state, path, runner, write_error, jobs=arguments.jobs)
    try:
        with stopped_by_sigterm():
            found = bisection.find()
            bundles = None if arguments.no_capture else bisection.capture()
    except CriterionError as error:
        return _refuse(str(error))
    except StuckError as error:
        write_output(f"{error}\nAll runs: {path}\n")
        return 0
    except BlamelessError as error:
        write_error(f"dl bisect: {error}\n")
        return 1
    except BisectError as error:
        return _refuse(str(error))
    except OSError as error:
        more = f"; go on with `dl bisect --resume {path}`" if path.exists() else ""
        return _refuse(f"{error.filename or path}: {error.strerror}{more}")
    except KeyboardInterrupt as stopped:
        more = f"; go on with `dl bisect --resume {path}`" if path.exists() else ""
        write_error(f"dl bisect: stopped{more}\n")
        return exit_status(stopped)
    finally:
        runner.close()
    if (
        bundles is not None
        and bisection.is_numerical()
        and calls_are_right(bundles, state.device, environment())
    ):
        bisection.acquit()
        write_error(f"dl bisect: {format_message(' and '.join(found.elements), bundles)}\n")
        return 1
    write_output(verdict(bisection, found, bundles))
    return 0


def _state(arguments: argparse.Namespace) -> tuple[State, Path]:
    from dl_optools.bisect.state import State, StateError
    from dl_optools.bisect.verdict import Criteria

    options, command = program_of(arguments.rest)
    if options:
        raise StateError(f"options must come before the program: {shlex.join(options)}")
    if arguments.resume is not None:
        state = State.load(arguments.resume)
        reason = why_untrusted(arguments.resume.absolute())
        if reason is not None and not command:
            raise StateError(
                f"{arguments.resume} names the program to run, but others could have written it: "
                f"{reason}. Repeat the program after `--`"
            )
        if command and command != state.command:
            raise StateError(
                f"{arguments.resume} belongs to another program: {shlex.join(state.command)}"
            )
        return state, arguments.resume
    folder = results_root().resolve() / "op_bisect_result" / run_stamp()
    path = (arguments.state or folder / "state.json").resolve()
    if path.exists() and not arguments.force:
        raise StateError(
            f"{path} exists; continue with `--resume {path}`; --force replaces it, or name another "
            "file"
        )
    criteria = Criteria(
        *(arguments.expect, arguments.metric, arguments.tolerance, arguments.finite),
        tensor=arguments.tensor,
    )
    return (
        State(
            command,
            arguments.level,
            arguments.device,
            criteria.as_json(),
            os.fspath(path.parent / f"{path.stem}_runs"),
        ),
        path,
    )


def verdict(bisection: Bisection, found: SearchResult, bundles: Path | None) -> str:
    """Format the result of a search."""
    state = bisection.state
    count = len(found.elements)
    lines = [
        f"{count} of {len(state.operators)} operators "
        f"{'is' if count == 1 else 'are'} to blame, found in {len(state.runs)} runs:"
    ]
    for number, group in enumerate(found.groups, 1):
        how = "with only this operator" if len(group) == 1 else "only with these operators together"
        lines.append(
            f"  {number}. {' and '.join(group)}: {how} on the device, {bisection.why(group)}"
        )
    if found.left:
        lines.append(
            "  There are more: the program is still wrong with these operators on the CPU."
        )
    else:
        lines.append("With these on the CPU and all others on the device the program is right:")
    device = f" --device {state.device}" if state.device else ""
    lines.append(
        f"  dl tool fallback --level {state.level}{device} "
        f"--list {shlex.quote(exact_patterns(found.elements))} -- {shlex.join(state.command)}"
    )
    if bundles is not None:
        lines.append(
            "Their calls are stored as bundles. This command checks which calls are wrong:"
        )
        lines.append(f"  dl replay {shlex.quote(os.fspath(bundles))} --check")
    lines.append(f"All runs: {bisection.path}")
    return "\n".join(lines) + "\n"


def _refuse(text: str, status: int = WRONG_USE) -> int:
    write_error(f"dl bisect: {text}\n")
    return status


BISECT = Command("bisect", "find the operators that make a program wrong", _configure, _run)

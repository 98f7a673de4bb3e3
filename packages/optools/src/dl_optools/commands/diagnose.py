"""``dl diagnose``: find the wrong operator of a program, and how to go on without it."""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from diopi_proto.text import write_error, write_output
from dl_core.commands import Command
from dl_optools.breadcrumbs.trail import DEFAULT_HANG
from dl_optools.environment import environment
from dl_optools.launching.launch import DEVICE_VARIABLE, NOT_FOUND, program_of
from dl_optools.launching.lifetime import exit_status, stopped_by_sigterm
from dl_optools.option_types import seconds, tolerance
from dl_optools.outputs import ResultsError, results_directory, results_root, run_stamp, unused_path

if TYPE_CHECKING:
    from dl_optools.bisect.verdict import Criteria
    from dl_optools.diagnosis.diagnosis import Diagnosis
    from dl_optools.diagnosis.runs import Runner

FOUND, UNABLE = 1, 2


def _configure(parser: argparse.ArgumentParser) -> None:
    parser.usage = "dl diagnose [options] -- PROGRAM [arguments]"
    parser.epilog = (
        "Exit code: 0 if nothing was found, 1 if an operator is wrong, 2 if there is no verdict: "
        "no tool ran, nothing was compared, --metric was never printed, or the program itself "
        "failed; 127 if the program does not exist, 130 and 143 if it was stopped by Ctrl-C or "
        "SIGTERM, with the verdict so far."
    )
    _add_options(parser)
    parser.add_argument("rest", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--device", metavar="TYPE", help="device type (default: the accelerator)")
    parser.add_argument(
        "--output",
        metavar="FOLDER",
        help="folder for the results (default: a new folder in op_tools_results/diagnosis)",
    )
    parser.add_argument("--timeout", type=seconds, metavar="SECONDS", help="maximum time of a run")
    parser.add_argument(
        "--hang",
        type=seconds,
        default=DEFAULT_HANG,
        metavar="SECONDS",
        help="maximum time of a single operator (default: 600)",
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help="check sampled calls only, then every call of the operators found to be wrong",
    )
    parser.add_argument(
        "--metric",
        metavar="REGEX",
        help="metric for dl bisect, which runs if no operator was found to be wrong",
    )
    parser.add_argument(
        "--tolerance",
        type=tolerance,
        metavar="X",
        help="relative tolerance of --metric (default: 0.001)",
    )


def _run(arguments: argparse.Namespace) -> int:
    from dl_optools.bisect.verdict import CriterionError
    from dl_optools.diagnosis.diagnosis import diagnose
    from dl_optools.diagnosis.report import html, text
    from dl_optools.diagnosis.runs import Runner

    given, program = program_of(arguments.rest)
    again = argparse.ArgumentParser(prog="dl diagnose", add_help=False)
    _add_options(again)
    again.parse_args(given, arguments)
    if not program:
        return _refuse("no program given, as in `dl diagnose -- python train.py`")
    if arguments.tolerance is not None and arguments.metric is None:
        return _refuse("--tolerance applies to --metric; give --metric as well")
    if shutil.which(program[0]) is None:
        return _refuse(f"{program[0]}: program not found", NOT_FOUND)
    environ = environment()
    root = results_root(environ) if arguments.output is None else Path(arguments.output)
    try:
        criteria = _criteria(arguments)
        places = results_directory("diagnosis", root.resolve() / "diagnosis")
    except (CriterionError, ResultsError) as error:
        return _refuse(str(error))
    folder = unused_path(places / run_stamp())
    variables = (
        {**environ}
        if arguments.device is None
        else {
            **environ,
            DEVICE_VARIABLE: arguments.device,
        }
    )
    runner = Runner(program, variables, folder, arguments.timeout, arguments.hang)
    try:
        with stopped_by_sigterm():
            found = diagnose(runner, write_error, quick=arguments.quick, criteria=criteria)
            if not (found.guilty or found.unable or found.stopped) and criteria is not None:
                _bisect(found, runner, arguments.device, criteria)
        path = folder / "diagnosis.html"
        path.write_text(html(found), encoding="utf-8")
    except CriterionError as error:
        return _refuse(str(error))
    except FileNotFoundError as error:
        return _refuse(f"{error.filename}: {error.strerror}", NOT_FOUND)
    except OSError as error:
        return _refuse(f"{error.filename or folder}: {error.strerror}")
    except KeyboardInterrupt as stopped:
        # Stopped between two runs, whose findings are incomplete.
        return _refuse("it was stopped before there was a verdict", exit_status(stopped))
    finally:
        runner.close()
    write_output(text(found, path))
    if runner.stopped:
        return runner.stopped
    if found.guilty:
        return FOUND
    return UNABLE if found.unable or found.status else 0


def _criteria(arguments: argparse.Namespace) -> Criteria | None:
    from dl_optools.bisect.verdict import Criteria

    if arguments.metric is None:
        return None
    return Criteria(
        metric=arguments.metric,
        tolerance=1e-3 if arguments.tolerance is None else arguments.tolerance,
    )


def _bisect(found: Diagnosis, runner: Runner, device: str | None, criteria: Criteria) -> None:
    """Search for faults that no comparison shows, such as values moved to the wrong position."""
    from dl_optools.bisect.accuracy import calls_are_right, format_message
    from dl_optools.bisect.bisection import Bisection
    from dl_optools.bisect.program_runner import ProgramRunner
    from dl_optools.bisect.runs import BisectError
    from dl_optools.bisect.state import State
    from dl_optools.bisect.verdict import CriterionError
    from dl_optools.diagnosis.diagnosis import Guilty

    path = runner.folder / "bisect.json"
    state = State(
        runner.command,
        "dispatch",
        device,
        criteria.as_json(),
        str(runner.folder / "bisect_runs"),
    )
    programs = ProgramRunner(runner.command, "dispatch", device, runner.environ, runner.timeout)
    bisection = Bisection(state, path, programs, write_error)
    try:
        groups = bisection.find().groups
        bundles = bisection.capture()
    except (BisectError, CriterionError) as error:
        found.notes.append(f"bisection: {error}")
        return
    except KeyboardInterrupt as stopped:
        runner.stopped, found.stopped = exit_status(stopped), True
        return
    finally:
        programs.close()
    if (
        bundles is not None
        and bisection.is_numerical()
        and calls_are_right(bundles, device, runner.environ)
    ):
        bisection.acquit()
        names = " and ".join(name for group in groups for name in group)
        found.notes.append(f"bisection: {format_message(names, bundles)}")
        return
    for group in groups:
        why = bisection.why(group)
        found.guilty += [
            Guilty(name, [f"with {' and '.join(group)} alone on the device: {why}"])
            for name in group
        ]


def _refuse(text: str, status: int = UNABLE) -> int:
    write_error(f"dl diagnose: {text}\n")
    return status


DIAGNOSE = Command("diagnose", "find the wrong operator of a program", _configure, _run)

"""``dl dicp``: explain, prebuild, test and minimize compiled graphs.

``explain`` runs a program and reports what its graphs became; ``warm`` builds the kernels that a
program needs; ``test`` compares compiled operators and models with eager ones; ``minimize`` makes a
failing graph smaller.
"""

from __future__ import annotations

import argparse
import runpy
import sys
import traceback
from pathlib import Path

from diopi_proto.text import write_error, write_output
from dl_core.commands import Command
from dl_core.errors import OutputError
from dl_core.files import add_force, check_free, write_text
from dl_dicp.commands import minimize, test
from dl_dicp.retention import retain_graphs

WRONG_USE = 2


def _configure(parser: argparse.ArgumentParser) -> None:
    commands = parser.add_subparsers(dest="what", required=True)
    explain = commands.add_parser(
        "explain",
        help="run a program; then list contract graphs, host calls and recompilations",
    )
    explain.description = (
        'Run a program that calls torch.compile(..., backend="dl") as python would. When the '
        "program has ended, report what each graph became."
    )
    explain.add_argument(
        "--html", type=Path, metavar="FILE", help="also write an HTML page, with the memory plans"
    )
    add_force(explain)
    _add_program(explain)
    warm = commands.add_parser("warm", help="run a program; then build all kernels that it needs")
    warm.description = (
        "Run a program as python would, and wait until the kernels of its graphs with the engine "
        "codegen are built. The vendor caches them: later runs of the program need no compiler."
    )
    _add_program(warm)
    minimize.configure(commands)
    test.configure(commands)


def _add_program(parser: argparse.ArgumentParser) -> None:
    program = parser.add_mutually_exclusive_group(required=True)
    rest = argparse.REMAINDER
    program.add_argument(
        "-m", dest="module", nargs=rest, metavar="MODULE", help="a module and its arguments"
    )
    program.add_argument("script", nargs="?", help="a script, followed by its arguments")
    parser.add_argument("arguments", nargs=rest, help=argparse.SUPPRESS)


def _run(arguments: argparse.Namespace) -> int:
    if arguments.what == "test":
        return test.run(arguments)
    if arguments.what == "minimize":
        return minimize.run(arguments)
    if arguments.module == []:
        return _refuse(arguments.what, "-m needs the name of a module")
    if arguments.script is not None and not Path(arguments.script).is_file():
        return _refuse(arguments.what, f"{arguments.script} is not a file")
    if arguments.what == "explain" and arguments.html is not None:
        try:
            check_free([arguments.html], arguments.force)
        except OutputError as error:
            return _refuse("explain", str(error))
        script = arguments.script and Path(arguments.script)
        if script and arguments.html.exists() and arguments.html.samefile(script):
            return _refuse("explain", f"--html {arguments.html} would overwrite the program itself")
    with retain_graphs():
        code = _program(arguments)
        return (_warm if arguments.what == "warm" else _explain)(arguments, code)


def _warm(_: argparse.Namespace, code: int) -> int:
    from dl_dicp.reports.warm import build_kernels_of_all_graphs

    built, problems = build_kernels_of_all_graphs()
    write_output(f"kernels of {built} graphs are built\n")
    for problem in problems:
        write_error(f"dl dicp warm: {problem}\n")
    return code or int(bool(problems))


def _explain(arguments: argparse.Namespace, code: int) -> int:
    from dl_dicp.reports.explain import explain

    write_output(explain())
    if arguments.html is not None:
        from dl_dicp.reports.explain_page import explain_page

        run = arguments.script or " ".join(["-m", *arguments.module])
        try:
            # The program may have written this file in the meantime.
            write_text(arguments.html, explain_page(run), arguments.force)
        except OutputError as error:
            return _refuse("explain", str(error))
        write_output(f"{arguments.html}: HTML page written\n")
    return code


def _program(arguments: argparse.Namespace) -> int:
    """Run the program in this process; return its exit code."""
    before = sys.argv, list(sys.path)
    try:
        if arguments.module is not None:
            sys.argv = list(arguments.module)
            sys.path.insert(0, "")
            runpy.run_module(arguments.module[0], run_name="__main__", alter_sys=True)
        else:
            sys.argv = [arguments.script, *arguments.arguments]
            sys.path.insert(0, str(Path(arguments.script).resolve().parent))
            runpy.run_path(arguments.script, run_name="__main__")
    except SystemExit as leaving:
        return leaving.code if isinstance(leaving.code, int) else int(leaving.code is not None)
    except Exception:  # noqa: BLE001 - an error of the program: show it, then write the report
        traceback.print_exc()
        return 1
    finally:
        sys.argv, sys.path[:] = before
    return 0


def _refuse(what: str, why: str) -> int:
    write_error(f"dl dicp {what}: {why}\n")
    return WRONG_USE


DICP = Command("dicp", "explain and test what the graph compiler does", _configure, _run)

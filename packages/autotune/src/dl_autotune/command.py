"""The commands ``dl tune kernel``, ``show``, ``report``, ``apply``, ``export``, ``forget`` and
``merge``."""

from __future__ import annotations

import argparse
import json
import math
from collections import Counter
from pathlib import Path

from diopi_proto.text import write_error, write_output
from dl_core.errors import OutputError
from dl_core.files import add_force, check_free, write_text

from .apply import apply
from .errors import ArgumentsError, TuningError
from .layers import open_layers, user_database
from .location import Address, Location, locate
from .operators.command import OPERATOR_COMMANDS, configure_operators, demand_processes, demand_seed
from .runners.database import Database, StoredTrial, Study
from .runners.kernel_worker import Target
from .runners.limits import Limits
from .runners.merge import merge
from .runners.placement import Here, Placement
from .runners.t4 import as_t4
from .runners.timing import CACHES
from .runners.tuner import Plan, Tuned, Tuner
from .show import find, format_transfer, show_studies
from .simulation import SIMULATION_NOTE
from .spaces import Config
from .strategies import DEFAULT, OPTIONAL, STRATEGIES, Budget
from .terminal import Display, format_values

STATUS_ARGUMENTS, STATUS_STOPPED = 2, 130
_READING = ("show", "report", "apply", "export", "forget", "export-wheel")
_STOPPED = {
    "kernel": "The measurements are stored; the same command continues the run",
    "op": "No choice was stored; the same command starts again",
    "model": "The choices for the calls so far are stored; the same command starts again",
}


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the subcommands."""
    commands = parser.add_subparsers(dest="what", required=True, metavar="COMMAND")
    kernel = commands.add_parser(
        "kernel",
        help="tune a kernel",
        description="Tune the kernel that a Python file describes: its variable 'kernel', a"
        " dl_autotune.TunableKernel. Measurements are stored, so that the same command continues "
        "a stopped run, and returns the result of a finished one.",
    )
    kernel.add_argument("file", type=Path, metavar="FILE", help="the Python file")
    kernel.add_argument("--vendor", default="cpu", help="vendor to run on (default: cpu)")
    kernel.add_argument("--device", type=int, default=0, help="device of the vendor (default: 0)")
    kernel.add_argument(
        "--evaluations", type=int, help="number of candidates to evaluate (default: 60)"
    )
    kernel.add_argument("--seconds", type=float, help="timeout of the search in seconds")
    known = ", ".join((*STRATEGIES, *OPTIONAL))
    kernel.add_argument("--strategy", metavar="NAME", help=f"one of {known} (default: {DEFAULT})")
    kernel.add_argument("--seed", type=int, help="seed of the search (default: 0)")
    kernel.add_argument(
        "--caches", choices=CACHES, default="warm", help="state of the caches at a launch"
    )
    kernel.add_argument(
        "--workers", type=int, default=2, help="number of parallel compilers (default: 2)"
    )
    kernel.add_argument(
        "--ray",
        metavar="ADDRESS",
        help="run workers on the machines of a Ray cluster: its address, auto, or local",
    )
    kernel.add_argument(
        "--processes", type=int, default=5, help="processes of the final race (default: 5)"
    )
    kernel.add_argument(
        "--limit",
        type=float,
        default=60.0,
        metavar="SECONDS",
        help="timeout of a candidate, its checks and its race in seconds (default: 60)",
    )
    kernel.add_argument(
        "--memory",
        type=int,
        metavar="MIB",
        help="memory limit per candidate in MiB (default: half of the machine)",
    )
    kernel.add_argument(
        "--no-transfer",
        dest="transfer",
        action="store_false",
        help="search without what earlier studies of the kernel found",
    )
    kernel.add_argument("--again", action="store_true", help="continue a search that has a verdict")
    kernel.add_argument(
        "--report", type=Path, metavar="FILE", help="path of an HTML report to write at the end"
    )
    operators = configure_operators(commands)
    show = commands.add_parser("show", help="show all studies, or the trials of one study")
    show.add_argument("study", nargs="?", help="prefix of the study's key")
    show.add_argument(
        "--all", action="store_true", help="show all trials, not only the ten fastest"
    )
    report = commands.add_parser("report", help="write a study as an HTML report")
    report.add_argument("study", help="prefix of the study's key")
    report.add_argument("file", type=Path, metavar="FILE", help="path of the HTML file")
    applied = commands.add_parser(
        "apply",
        help="write tuned values into a kernel's source",
        description="Write the values of the winner at the markers, and keep the markers.",
    )
    applied.add_argument("study", help="prefix of the study's key")
    applied.add_argument("source", type=Path, metavar="SOURCE", help="path of the tuned source")
    applied.add_argument("--output", type=Path, metavar="FILE", help="write there instead")
    forget = commands.add_parser("forget", help="delete a study with its trials")
    forget.add_argument("study", help="prefix of the study's key")
    export = commands.add_parser("export", help="write the trials of a study as a T4 file")
    export.add_argument("study", help="prefix of the study's key")
    export.add_argument("file", type=Path, metavar="FILE", help="path of the T4 file")
    merged = commands.add_parser(
        "merge",
        help="add the studies of one database to another",
        description="Add the studies and selections of a database to another one, such as those of"
        " several machines with the same device. Trials of the same study are united; of two"
        " verdicts or selections, the one with the higher lower bound stays.",
    )
    merged.add_argument("source", type=locate, metavar="FROM", help="database to read")
    merged.add_argument("target", type=locate, metavar="INTO", help="database to add to")
    for each in (kernel, report, export):
        add_force(each)
    for each in (kernel, *operators, show, report, applied, forget, export):
        each.add_argument(
            "--database",
            type=locate,
            help="path of the database, or its address postgresql://user@host/name (default: "
            "$DL_TUNING_DATABASE, or the user's own file)",
        )


def run(arguments: argparse.Namespace) -> int:
    """Run the command; return 0, 1 on failure, 2 for wrong use, 130 after Ctrl-C."""
    try:
        if arguments.what == "merge":
            return merge_databases(arguments.source, arguments.target)
        path = arguments.database or user_database()
        if arguments.what in _READING and isinstance(path, Path) and not path.exists():
            return _nothing_there(arguments, path)
        database = Database(path)
        if arguments.what == "kernel":
            return tune_kernel(arguments, database)
        if arguments.what in OPERATOR_COMMANDS:
            return OPERATOR_COMMANDS[arguments.what](arguments, database)
        if arguments.what == "show":
            return show_studies(arguments.study, database, every=arguments.all)
        study = find(arguments.study, database)
        trials = database.trials(study)
        if arguments.what == "export":
            return export_trials(arguments.file, study, trials, force=arguments.force)
        if arguments.what == "report":
            return write_report(arguments.file, study, database, force=arguments.force)
        if arguments.what == "apply":
            return apply_winner(arguments, study, database)
        database.forget(study)
    except (TuningError, OutputError) as error:
        write_error(f"dl tune: {error}\n")
        return error.status if isinstance(error, TuningError) else STATUS_ARGUMENTS
    except KeyboardInterrupt:
        write_error(f"dl tune: stopped. {_STOPPED.get(arguments.what, 'Run it again')}\n")
        return STATUS_STOPPED
    write_output(f"forgot {study.key} with {len(trials)} trials\n")
    return 0


def _nothing_there(arguments: argparse.Namespace, path: Path) -> int:
    """Check that the database exists; commands that only read it do not create it."""
    told = f"nothing was tuned yet: there is no {path}"
    if arguments.what != "show" or arguments.study is not None or arguments.database is not None:
        raise TuningError(f"[tune] {told}. Tune something, or name another file with --database")
    write_output(f"{told}\n")
    return 0


def tune_kernel(arguments: argparse.Namespace, database: Database) -> int:
    """Run ``dl tune kernel``."""
    evaluations: int | None = arguments.evaluations
    if evaluations is None and arguments.seconds is None:
        evaluations = 60
    for name in ("workers", "memory"):
        given = getattr(arguments, name)
        if given is not None and given < 1:
            raise ArgumentsError(f"[tune] --{name} {given}: give 1 or more")
    demand_processes(arguments.processes)
    seed = arguments.seed or 0
    demand_seed(seed)
    if arguments.report:
        demand_folder(arguments.report)
        check_free([arguments.report], arguments.force)
    if not 0 < arguments.limit < math.inf:
        raise ArgumentsError(f"[tune] --limit {arguments.limit:g}: give more than 0 seconds")
    target = Target(
        arguments.file.absolute(),
        arguments.vendor,
        arguments.device,
        caches=arguments.caches,
        seed=seed,
        limits=Limits(memory=arguments.memory << 20) if arguments.memory else Limits(),
    )
    plan = Plan(
        Budget(evaluations, arguments.seconds),
        arguments.strategy or DEFAULT,
        workers=arguments.workers,
        final_processes=arguments.processes,
        evaluation_seconds=arguments.limit,
        transfer=arguments.transfer,
    )
    layers = open_layers() if arguments.transfer else []
    with (
        Display(evaluations) as display,
        _placement(arguments.ray, arguments.workers) as placement,
    ):
        tuner = Tuner(target, database, plan, display.trial, placement, layers)
        display.begin(tuner.kernel)
        tuned = tuner.run(again=arguments.again)
    write_output(_result(tuned, tuner.kernel.default, database))
    if tuned.reused:
        write_output(_unused(arguments))
    if not arguments.report:
        return 0
    return write_report(arguments.report, tuned.study, database, force=arguments.force)


def _unused(arguments: argparse.Namespace) -> str:
    """Return a line that names the options that a finished study leaves unused; else nothing."""
    given = [f"--{name}" for name in ("strategy", "seed") if getattr(arguments, name) is not None]
    if not arguments.transfer:
        given.append("--no-transfer")
    if not given:
        return ""
    names = " and ".join(given)
    return f"unused  {names}: nothing was searched; with --again, the search continues with it\n"


def merge_databases(source: Location, target: Location) -> int:
    """Run ``dl tune merge``."""
    if isinstance(source, Path) and not source.exists():
        raise ArgumentsError(f"[tune] there is no database {source}: name the one to read")
    if isinstance(target, Path):
        demand_folder(target)
    if _are_same(source, target):
        raise ArgumentsError(f"[tune] {source} and {target} are one file: name two databases")
    found = merge(Database(source, read_only=True), Database(target))
    write_output(
        f"{target}: added studies: {found.studies}, trials: {found.trials}, verdicts:"
        f" {found.claims}, selections: {found.choices}\n"
    )
    return 0


def _are_same(source: Location, target: Location) -> bool:
    if isinstance(source, Address) or isinstance(target, Address):
        return source == target
    return target.exists() and source.samefile(target)


def demand_folder(file: Path) -> None:
    """
    :raises ArgumentsError: the folder of an output file does not exist.
    """
    if not file.parent.exists():
        raise ArgumentsError(
            f"[tune] {file} cannot be written: there is no folder {file.parent}; create it, or name"
            " another file"
        )


def _placement(address: str | None, workers: int) -> Placement:
    if address is None:
        return Here()
    from .runners.ray import OnRay

    return OnRay(address, processors=workers + 1)


def _result(tuned: Tuned, default: Config, database: Database) -> str:
    trials = database.trials(tuned.study)
    failed = Counter(t.invalidity for t in trials if t.invalidity != "correct")
    causes = ", ".join(f"{count} {reason}" for reason, count in failed.most_common()) or "none"
    how = "measured again in fresh processes"
    if not tuned.finalists:
        how = "no candidate beat the default, so none was raced again"
    elif tuned.config == default:
        how = "the fastest candidate failed when it was raced again"
    if tuned.reused:
        how = (
            "from an earlier run; --again, or more --evaluations without --seconds, continue the "
            "search"
        )
    return (
        f"study   {tuned.study.key}, {tuned.evaluated} configurations; failed: {causes}\n"
        f"{''.join(f'earlier {format_transfer(each)}{chr(10)}' for each in tuned.transfers)}"
        f"default {format_values(default)}\n"
        f"best    {format_values(tuned.config)}\n"
        f"verdict {tuned.claim} ({how})\n"
        f"{SIMULATION_NOTE if tuned.study.simulated else ''}"
    )


def write_report(file: Path, study: Study, database: Database, *, force: bool) -> int:
    """Run ``dl tune report``, or write the report of ``dl tune kernel --report``."""
    demand_folder(file)
    # The analysis needs scikit-learn, which takes a second to import.
    from .report import study_page

    trials, transfers = database.trials(study), database.transfers(study)
    page = study_page(study, trials, database.claimed(study), transfers)
    write_text(file, page, force)
    write_output(f"report  {file}\n")
    return 0


def apply_winner(arguments: argparse.Namespace, study: Study, database: Database) -> int:
    """Run ``dl tune apply``."""
    output = arguments.output or arguments.source
    demand_folder(output)
    claim = database.claimed(study)
    apply(study, claim, arguments.source, output)
    assert claim is not None
    write_output(f"{output}: {format_values(claim.config)}\n")
    return 0


def export_trials(file: Path, study: Study, trials: list[StoredTrial], *, force: bool) -> int:
    """Run ``dl tune export``."""
    demand_folder(file)
    write_text(file, json.dumps(as_t4(study, trials), indent=1) + "\n", force)
    write_output(f"{file}: {len(trials)} trials of {study.key}\n")
    return 0

"""The commands ``dl tune op``, ``model`` and ``export-wheel``: options and output."""

from __future__ import annotations

import argparse
import ast
import contextlib
import json
import math
import re
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from diopi_proto.text import write_error, write_output
from dl_core.files import add_force
from dl_core.simulation import is_marked

from ..errors import ArgumentsError, TuningError
from ..observers.load import format_load_warning
from ..runners.database import Database
from ..runners.device_lock import DeviceLock, in_job
from ..simulation import SIMULATION_NOTE
from .plan import OperatorPlan

if TYPE_CHECKING:
    from .tuner import TunedCall

_LARGEST = 1 << 31
"""Maximum number of elements of a tensor, and maximum size of a dimension."""


def configure_operators(commands: Any) -> list[argparse.ArgumentParser]:
    """Add the commands, and return their parsers."""
    op = commands.add_parser(
        "op",
        help="select the fastest implementation of an operator",
        description="Race all implementations that the vendor has for one call, check their"
        " results, and keep the winner: later programs use it for calls with the same shapes.",
    )
    _configure_op(op)
    model = commands.add_parser(
        "model",
        help="select the fastest implementations for the calls of an unmodified program",
        description="Run a program to see which operators it calls, tune those that take longest,"
        " and time the whole program before and after.",
    )
    _add_plan(model, seconds=600.0, bounded="the command; what takes longer is reported")
    model.add_argument(
        "--runs",
        type=int,
        help="number of pairs of whole runs at the end (default: 5, fewer if they do not fit into"
        " half of --seconds, but at least 2)",
    )
    model.add_argument(
        "program",
        nargs=argparse.REMAINDER,
        metavar="-- COMMAND ...",
        help="program to tune, after --",
    )
    wheel = commands.add_parser(
        "export-wheel",
        help="export the selections as a wheel, for other machines with the same device",
    )
    wheel.add_argument("device", help="name of the device; the wheel is dl-tuned-DEVICE")
    wheel.add_argument(
        "--output",
        type=Path,
        default=Path(),
        metavar="FOLDER",
        help="folder of the wheel (default: .)",
    )
    wheel.add_argument("--version", default="0.1.0", help="version of the wheel (default: 0.1.0)")
    add_force(wheel)
    return [op, model, wheel]


def _configure_op(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("operator", metavar="OPERATOR", help="mm, conv2d, aten::addmm, ...")
    parser.add_argument(
        "--shapes",
        nargs="+",
        required=True,
        metavar="SHAPE",
        help="shape of each tensor",
    )
    parser.add_argument(
        "--dtype", default="float32", help="dtype of the tensors (default: float32)"
    )
    parser.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help="another argument"
    )
    _add_plan(parser, seconds=60.0, bounded="the search")


def _add_plan(parser: argparse.ArgumentParser, *, seconds: float, bounded: str) -> None:
    parser.add_argument("--vendor", default="cpu", help="vendor to tune (default: cpu)")
    parser.add_argument(
        "--seconds",
        type=float,
        default=seconds,
        help=f"timeout in seconds of {bounded} (default: {seconds:g})",
    )
    parser.add_argument(
        "--processes", type=int, default=3, help="processes of the final race (default: 3)"
    )
    parser.add_argument("--seed", type=int, default=0, help="seed of inputs and order (default: 0)")


def tune_op(arguments: argparse.Namespace, database: Database) -> int:
    """Run ``dl tune op``."""
    plan = _plan(arguments)
    # Check the options first, because importing torch takes a second.
    shapes = [_shape(text) for text in arguments.shapes]
    keywords = _keywords(arguments.set)
    from .call import Call, check_dtype, function_of
    from .tuner import tune_call

    function_of(arguments.operator)
    check_dtype(arguments.dtype)
    tensors = tuple({"shape": shape, "dtype": arguments.dtype} for shape in shapes)
    call = Call(arguments.operator, tensors, keywords)
    path = database.path
    where = str(path.absolute() if isinstance(path, Path) else path)
    question = json.dumps([where, asdict(plan), call.as_json()])
    with DeviceLock(arguments.vendor, 0) as lock:
        found = lock.answer(question)
        if found is None:
            found = format_call(tune_call(call, arguments.vendor, database, plan))
            lock.leave(question, found)
        else:
            found += "found   by another rank of this job\n"
    write_output(found)
    return 0


def tune_program(arguments: argparse.Namespace, database: Database) -> int:
    """Run ``dl tune model``."""
    plan = _plan(arguments)
    if arguments.runs is not None and arguments.runs < 2:
        raise ArgumentsError(
            "[tune] --runs must be at least 2: the speedup of one pair of runs is not significant"
        )
    if in_job():
        # The program of this rank would wait for other ranks, which wait for the device.
        raise TuningError(
            "[tune] a rank of a job cannot tune its program alone: let the tuner start the job, for"
            " example with 'dl tune model -- torchrun --nproc-per-node=2 train.py'"
        )
    from .model import format_model, program_of, tune_model

    def say(line: str) -> None:
        write_error(f"dl tune: {line}\n")

    command = program_of(arguments.program)
    with DeviceLock(arguments.vendor, 0):
        tuned = tune_model(command, arguments.vendor, database, plan, runs=arguments.runs, say=say)
    write_output(format_model(tuned))
    return 0


def make_wheel(arguments: argparse.Namespace, database: Database) -> int:
    """Run ``dl tune export-wheel``."""
    from .wheel import export_wheel

    # Choices of simulated devices say nothing about a device.
    choices = [each for each in database.choices() if not is_marked(each.identity)]
    path = export_wheel(
        arguments.device,
        choices,
        arguments.output,
        version=arguments.version,
        force=arguments.force,
    )
    write_output(f"{path}: {len(choices)} choices; pip install {path}\n")
    return 0


OPERATOR_COMMANDS = {"op": tune_op, "model": tune_program, "export-wheel": make_wheel}


def _plan(arguments: argparse.Namespace) -> OperatorPlan:
    if not arguments.seconds > 0:
        raise ArgumentsError(f"[tune] --seconds {arguments.seconds:g}: give more than 0")
    demand_processes(arguments.processes)
    demand_seed(arguments.seed)
    return OperatorPlan(arguments.seconds, arguments.processes, arguments.seed)


def demand_seed(seed: int) -> None:
    """
    :raises TuningError: generators take no such seed.
    """
    if not 0 <= seed < 1 << 32:
        raise ArgumentsError(f"[tune] --seed {seed}: give 0 to {(1 << 32) - 1}")


def demand_processes(count: int) -> None:
    """
    :raises TuningError: there are too few processes for a claim.
    """
    if count < 2:
        raise ArgumentsError(
            f"[tune] --processes {count}: give 2 or more, because a single process may be faster "
            "by chance"
        )


def format_call(tuned: TunedCall) -> str:
    """Format the result of a call as lines."""
    lines = [f"call    {tuned.call}", f"on      {tuned.identity}"]
    for key, choices in tuned.keys.items():
        lines.append(f"choices {key.partition(':')[0]}: {', '.join(choices)}")
    lines += [f"refused {choice}: {reason}" for choice, reason in tuned.refused]
    for key, choice in tuned.chosen.items():
        lines.append(f"chosen  {key.partition(':')[0]}: {choice}")
    if warning := format_load_warning(tuned.in_use):
        lines.append(f"warning {warning}")
    if not any(len(choices) > 1 for choices in tuned.keys.values()):
        lines.append("verdict there are no choices for this call")
    elif tuned.claimed is None:
        lines.append("verdict no significant winner: the vendor's usual choice stays")
    else:
        lines.append(f"verdict {tuned.claimed} (measured again in fresh processes)")
    note = SIMULATION_NOTE if is_marked(tuned.identity) else ""
    return "\n".join(lines) + "\n" + note


def _shape(text: str) -> list[int]:
    if not re.fullmatch(r"[0-9]+(x[0-9]+)*", text):
        raise ArgumentsError(f"[tune] --shapes {text!r} is not a shape like 64x128")
    # Python does not parse numbers with thousands of digits.
    sizes = [int(size[:20]) for size in text.split("x")]
    if max(sizes) > _LARGEST or math.prod(sizes) > _LARGEST:
        raise ArgumentsError(
            f"[tune] --shapes {text[:100]} has more than {_LARGEST:,} elements: give a smaller"
            " shape"
        )
    return sizes


def _keywords(texts: Sequence[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in map(_keyword, texts):
        if name in found:
            raise ArgumentsError(f"[tune] --set {name} is given twice: give it once")
        found[name] = value
    return found


def _keyword(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if equals and name.isidentifier():
        with contextlib.suppress(ValueError, SyntaxError):
            return name, ast.literal_eval(value)
    raise ArgumentsError(f"[tune] --set {text!r} is not a setting like stride=2 or padding=[1,1]")

"""``dl gpu-sim`` and ``python -m dl_gpu_sim``: run a program, or list a file's kernels."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from .paths import library_dir
from .report import Report

STATUS_FINDINGS = 3
"""The program succeeded, and something was found."""
STATUS_USAGE = 2
MOST_SHOWN = 50


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of both forms."""
    parser.description = (
        "Run PROGRAM with a simulated GPU: dl gpu-sim -- PROGRAM. Its status is the program's, or"
        f" {STATUS_FINDINGS} if that is 0 and something was found. Or list the kernels of FILE, a"
        " PTX text, with the instructions that are not supported."
    )
    parser.add_argument("--devices", type=int, help="how many there are (1)")
    parser.add_argument("--memory", help="bytes of each, as 512M or 4G (4G)")
    parser.add_argument("--capability", help="of the devices, as 9.0 (8.0)")
    parser.add_argument("--seed", type=int, help="of the order of blocks and warps (1)")
    parser.add_argument("--fail", help="calls that fail: cuMemAlloc:3,cuLaunchKernel:1")
    parser.add_argument("rest", nargs=argparse.REMAINDER, metavar="FILE | -- PROGRAM")


def run(arguments: argparse.Namespace) -> int:
    """Do what the arguments say; return the exit status."""
    rest: list[str] = list(arguments.rest)
    if rest[:1] == ["--"]:
        return run_program(rest[1:], variables(arguments))
    if len(rest) == 1:
        return list_kernels(Path(rest[0]))
    sys.stderr.write("dl gpu-sim: name one PTX file, or a program after --\n")
    return STATUS_USAGE


def variables(arguments: argparse.Namespace) -> dict[str, str]:
    """The environment variables that the options stand for."""
    names = ("devices", "memory", "capability", "seed", "fail")
    given = {name: getattr(arguments, name) for name in names}
    return {f"DL_GPU_SIM_{k.upper()}": str(v) for k, v in given.items() if v is not None}


def run_program(program: Sequence[str], settings: Mapping[str, str]) -> int:
    """Run a program with the driver of this wheel, print what was found, return the status."""
    if not program:
        sys.stderr.write("dl gpu-sim: name a program after --\n")
        return STATUS_USAGE
    with TemporaryDirectory(prefix="dl-gpu-sim-") as folder:
        paths = [str(library_dir()), os.environ.get("LD_LIBRARY_PATH", "")]
        environment = {
            **os.environ,
            "LD_LIBRARY_PATH": os.pathsep.join(filter(None, paths)),
            "DL_GPU_SIM_REPORT": str(Path(folder) / "%p.json"),
            **settings,
        }
        try:
            status = subprocess.run(program, env=environment, check=False).returncode
        except OSError as error:
            sys.stderr.write(f"dl gpu-sim: {program[0]}: {error.strerror}\n")
            return 127
        report = Report.read(sorted(Path(folder).glob("*.json")))
    sys.stderr.write(summary(report))
    # What ended by a signal has a negative status.
    if status:
        return status if status > 0 else 128 - status
    return STATUS_FINDINGS if report.findings else 0


def summary(report: Report) -> str:
    """What was found, for a person."""
    lines = [str(each) for each in report.findings[:MOST_SHOWN]]
    if len(report.findings) > MOST_SHOWN:
        lines.append(f"... and {len(report.findings) - MOST_SHOWN} more")
    lines += report.messages
    launches = sum(report.launches.values())
    lines.append(
        f"dl gpu-sim: {launches} launches of {len(report.launches)} kernels,"
        f" {report.synchronisations} synchronisations, {len(report.findings)} findings"
    )
    if report.same_value_writes:
        lines.append(
            f"{report.same_value_writes} racing writes put the value that was there: not counted"
        )
    return "\n".join(lines) + "\n"


def list_kernels(path: Path) -> int:
    """Print the kernels of a PTX file; the status says whether all can be run."""
    from .module import Module, PtxError

    try:
        with Module(path.read_text(encoding="utf-8")) as module:
            kernels = module.kernels
    except (OSError, UnicodeDecodeError, PtxError) as error:
        sys.stderr.write(f"dl gpu-sim: {path}: {error}\n")
        return 1
    missing = 0
    for kernel in kernels.values():
        dynamic = " + what the launch gives" if kernel.dynamic_shared else ""
        sys.stdout.write(
            f"{kernel.name}\n  {kernel.registers} registers, {kernel.shared}{dynamic} bytes of"
            f" shared memory, {kernel.local} of local memory, {kernel.instructions} instructions\n"
        )
        counts = sorted(kernel.opcodes.items(), key=lambda each: (-each[1], each[0]))
        sys.stdout.write("  " + ", ".join(f"{name} {count}" for name, count in counts) + "\n")
        for each in kernel.unsupported:
            sys.stdout.write(f"  not supported: {each}\n")
            missing += 1
    sys.stdout.write(f"{len(kernels)} kernels, {missing} instructions that are not supported\n")
    return 1 if missing else 0

"""``dl gpu-sim`` and ``python -m dl_gpu_sim``: run a program, or list a file's kernels."""

from __future__ import annotations

import argparse
import os
import subprocess
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from diopi_proto.foreign_file import DOCUMENT_BYTES, read_regular_text
from diopi_proto.text import write_error, write_output

from .paths import library, library_dir
from .report import Report

STATUS_FINDINGS = 3
"""Exit code: the program succeeded, but there are findings."""
STATUS_USAGE = 2
STATUS_UNCHECKED = 4
"""Exit code: the program succeeded, but a part of the check did not take place."""
MOST_SHOWN = 50


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of both commands."""
    parser.description = (
        "Run PROGRAM with a simulated GPU: dl gpu-sim -- PROGRAM. The exit code is the program's."
        f" If that is 0, the exit code is {STATUS_FINDINGS} if there are findings, and"
        f" {STATUS_UNCHECKED} if nothing was launched on the simulator or a call that --fail names"
        " was never made. Or list the kernels of FILE, a PTX text, with unsupported instructions."
    )
    parser.add_argument("--devices", type=int, help="number of devices (default: 1)")
    parser.add_argument("--memory", help="memory of each device, such as 512M (default: 4G)")
    parser.add_argument("--capability", help="compute capability of the devices (default: 8.0)")
    parser.add_argument(
        "--seed", type=int, help="seed of the order of blocks and warps (default: 1)"
    )
    parser.add_argument("--fail", help="calls that fail: cuMemAlloc:3,cuLaunchKernel:1")
    parser.add_argument(
        "rest",
        nargs=argparse.REMAINDER,
        metavar="FILE | -- PROGRAM",
        help="PTX file to check, or a program to run on simulated GPUs",
    )


def run(arguments: argparse.Namespace) -> int:
    """Run the command; return the exit code."""
    rest: list[str] = list(arguments.rest)
    if rest[:1] == ["--"]:
        return run_program(rest[1:], variables(arguments))
    if len(rest) == 1:
        return list_kernels(Path(rest[0]))
    write_error("dl gpu-sim: name one PTX file, or a program after --\n")
    return STATUS_USAGE


def variables(arguments: argparse.Namespace) -> dict[str, str]:
    """Return the environment variables for the options."""
    names = ("devices", "memory", "capability", "seed", "fail")
    given = {name: getattr(arguments, name) for name in names}
    return {f"DL_GPU_SIM_{k.upper()}": str(v) for k, v in given.items() if v is not None}


def run_program(program: Sequence[str], settings: Mapping[str, str]) -> int:
    """Run a program with this wheel's driver, print the findings, and return the exit code."""
    if not program:
        write_error("dl gpu-sim: name a program after --\n")
        return STATUS_USAGE
    # numpy and cffi are not needed to print the help.
    from .settings import read

    with TemporaryDirectory(prefix="dl-gpu-sim-") as folder:
        own = {**settings, "DL_GPU_SIM_REPORT": str(Path(folder) / "%p.json")}
        environment = {**os.environ, **driver_variables(os.environ), **own}
        try:
            read(environment)
        except ValueError as error:
            write_error(f"dl gpu-sim: {error}\n")
            return STATUS_USAGE
        for conflict in conflicts(os.environ):
            write_error(f"dl gpu-sim: {conflict}\n")
        try:
            status = subprocess.run(program, env=environment, check=False).returncode
        except OSError as error:
            write_error(f"dl gpu-sim: {program[0]}: {error.strerror}\n")
            return 127
        report = Report.read(sorted(Path(folder).glob("*.json")))
    missing = unchecked(report, environment.get("DL_GPU_SIM_FAIL", ""))
    write_error(summary(report, missing))
    # The exit code of a program that was ended by a signal is negative.
    if status:
        return status if status > 0 else 128 - status
    if report.findings:
        return STATUS_FINDINGS
    return STATUS_UNCHECKED if missing else 0


def driver_variables(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that make the simulator the CUDA driver of a program.

    Variables that the user has set are kept: see :func:`conflicts`.
    """
    paths = [str(library_dir()), environ.get("LD_LIBRARY_PATH", "")]
    made = {"LD_LIBRARY_PATH": os.pathsep.join(filter(None, paths))}
    if not environ.get("DL_CUDA_DRIVER"):
        made["DL_CUDA_DRIVER"] = str(library())
    # dl-core reports an error for a vendor that is not installed.
    if not environ.get("DL_VENDORS") and find_spec("dl_vendor_cuda") is not None:
        made["DL_VENDORS"] = "cuda"
    return made


def conflicts(environ: Mapping[str, str]) -> list[str]:
    """List settings of the user that bypass the simulator or have no effect on it."""
    said = []
    driver, vendors = environ.get("DL_CUDA_DRIVER", ""), environ.get("DL_VENDORS", "")
    if driver and Path(driver) != library():
        said.append(
            f"DL_CUDA_DRIVER={driver} is kept: dl-vendor-cuda uses that driver instead of the"
            " simulator; unset it"
        )
    if vendors and "cuda" not in [each.strip() for each in vendors.split(",")]:
        said.append(
            f"DL_VENDORS={vendors} is kept: torch's dl devices are not those of dl-vendor-cuda, "
            "which the simulator serves; unset it, or add cuda"
        )
    if (visible := environ.get("CUDA_VISIBLE_DEVICES")) is not None:
        said.append(
            f"CUDA_VISIBLE_DEVICES={visible} is kept: it also selects among the simulator's devices"
        )
    if report := environ.get("DL_GPU_SIM_REPORT"):
        said.append(f"DL_GPU_SIM_REPORT={report} is not written: this command reads the reports")
    return said


def unchecked(report: Report, failures: str) -> list[str]:
    """List what limits the meaning of a report without findings: parts that were not checked."""
    said = []
    if not report.calls:
        said.append("NOTHING WAS CHECKED: no call of the simulator's driver was seen")
    elif not report.launches:
        said.append(
            "NOTHING WAS CHECKED: the program called the simulator's driver, but launched no kernel"
        )
    for each in filter(None, failures.split(",")):
        name, _, count = each.partition("=")[0].partition(":")
        made = report.calls.get(name, 0)
        if made < int(count or 1):
            said.append(f"{each} did not fail: {name} was called {made} times")
    return said


def summary(report: Report, missing: Sequence[str] = ()) -> str:
    """Format the findings, and the parts that were not checked."""
    lines = [str(each) for each in report.findings[:MOST_SHOWN]]
    if len(report.findings) > MOST_SHOWN:
        lines.append(f"... and {len(report.findings) - MOST_SHOWN} more")
    lines += report.messages
    launches = sum(report.launches.values())
    lines.append(
        f"dl gpu-sim: {launches} launches of {len(report.launches)} kernels,"
        f" {report.synchronisations} synchronisations, {len(report.findings)} findings"
    )
    lines += (f"dl gpu-sim: {each}" for each in missing)
    if report.same_value_writes:
        lines.append(
            f"dl gpu-sim: {report.same_value_writes} unordered writes are not findings, because"
            " they wrote the value that was already there"
        )
    return "\n".join(lines) + "\n"


def list_kernels(path: Path) -> int:
    """Print the kernels of a PTX file; return 0 as the exit code if all are supported."""
    from .module import Module

    try:
        with Module(read_regular_text(path, DOCUMENT_BYTES)) as module:
            kernels = module.kernels
    except OSError as error:
        write_error(f"dl gpu-sim: {path}: {error.strerror}\n")
        return STATUS_USAGE
    except UnicodeDecodeError:
        write_error(
            f"dl gpu-sim: {path}: not a PTX text; it may be machine code, a cubin or a fat binary."
            " Use nvcc -ptx to create PTX\n"
        )
        return STATUS_USAGE
    # PtxError, or an invalid setting.
    except ValueError as error:
        write_error(f"dl gpu-sim: {path}: {error}\n")
        return STATUS_USAGE
    missing = 0
    for kernel in kernels.values():
        dynamic = " + dynamic" if kernel.dynamic_shared else ""
        write_output(
            f"{kernel.name}\n  {kernel.registers} registers, {kernel.shared}{dynamic} bytes of"
            f" shared memory, {kernel.local} of local memory, {kernel.instructions} instructions\n"
        )
        counts = sorted(kernel.opcodes.items(), key=lambda each: (-each[1], each[0]))
        write_output("  " + ", ".join(f"{name} {count}" for name, count in counts) + "\n")
        for each in kernel.unsupported:
            write_output(f"  not supported: {each}\n")
            missing += 1
    write_output(f"{len(kernels)} kernels, {missing} instructions that are not supported\n")
    return 1 if missing else 0

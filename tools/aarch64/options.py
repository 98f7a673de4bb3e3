"""Options of the session."""

from __future__ import annotations

import argparse
import os
from dataclasses import dataclass
from pathlib import Path

from dl_conformance.commit_seed import commit_seed
from tools.projects import ROOT
from tools.torch_matrix.releases import supported

from . import __doc__ as about

HOME = ROOT / "build" / "aarch64"
LEVELS = ("armv8", "sve", "all")


@dataclass(frozen=True)
class Options:
    """Parsed options.

    :ivar families: families of operators to build and to check; None: all.
    """

    folder: Path
    families: list[str] | None
    level: str
    cases: int
    seed: str
    jobs: int
    torch: str | None
    native: Path | None
    tests: list[str]


def add_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "--folder",
        type=Path,
        default=HOME,
        metavar="PATH",
        help="folder of the root filesystem with all built objects, which later runs reuse "
        "(default: build/aarch64)",
    )
    add(
        "--families",
        metavar="NAME,...",
        help="families of operators that dl-vendor-cpu is built with; conformance cases are drawn "
        "from these (default: all)",
    )
    add("--level", choices=LEVELS, default="armv8", help="instruction set (default: armv8)")
    add("--cases", type=int, default=1000, metavar="N", help="conformance cases (default: 1000)")
    add("--seed", metavar="S", help="seed that draws the cases (default: the commit)")
    add(
        "--jobs",
        type=int,
        default=os.cpu_count() or 1,
        metavar="N",
        help="processes of conformance and compilers of dl-core (default: all processors)",
    )
    add("--torch", default=supported()[0], metavar="RELEASE", help="torch release (default: first)")
    add("--without-torch", action="store_true", help="leave out torch, dl-core and training")
    add(
        "--native",
        type=Path,
        metavar="PYTHON",
        help="interpreter with the wheels for this machine, whose losses in the training are "
        "compared with those by emulation (default: no comparison)",
    )
    add(
        "--tests",
        nargs="+",
        default=[],
        metavar="ARG",
        help="arguments of pytest for the tests of dl-diopi-proto (default: all tests)",
    )


def parse(arguments: list[str]) -> Options:
    """Parse the command line."""
    parser = argparse.ArgumentParser(prog="tools/nox -s aarch64 --", description=about)
    add_options(parser)
    given = parser.parse_args(arguments)
    if given.cases < 1 or given.jobs < 1:
        parser.error("--cases and --jobs must be at least 1")
    return Options(
        folder=given.folder.absolute(),
        families=given.families.split(",") if given.families else None,
        level=given.level,
        cases=given.cases,
        seed=given.seed or commit_seed(ROOT),
        jobs=given.jobs,
        torch=None if given.without_torch else given.torch,
        native=given.native.absolute() if given.native else None,
        tests=given.tests,
    )

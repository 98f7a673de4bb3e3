"""Options that the command and the pytest plugin share, and their interpretation."""

from __future__ import annotations

from argparse import ArgumentTypeError
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

from .catalog import all_cases, cases_of_files
from .checks.check import checks
from .promises import check_promises
from .selection import Selection, sample_of
from .target import Target, TargetError, of_library, of_vendor, profile, read_known_failures

Add = Callable[..., Any]
"""``add_argument`` of argparse, or ``addoption`` of pytest."""


class Options(Protocol):
    """Parsed options."""

    vendor: str | None
    library: str | None
    runtime: str | None
    adaptor: str | None
    simulate: bool
    own_operators: bool
    unguarded: bool
    known_failures: str | None
    profile: str | None
    fname: list[str]
    only_dtype: list[str]
    skip_dtype: list[str]
    nhwc: bool
    model: list[str]
    cases: list[str]
    sample: str


LONGEST = 24 * 3600.0
"""Maximum timeout of a case in seconds."""


def seconds(text: str) -> float:
    """Parse the timeout of a case.

    :raises ArgumentTypeError: the number is out of range.
    """
    found = float(text)
    if not 0 < found <= LONGEST:
        raise ArgumentTypeError(f"{text} is not between 0 and {LONGEST:g} seconds")
    return found


def jobs(text: str) -> int:
    """Parse the number of workers.

    :raises ArgumentTypeError: the number is less than 1.
    """
    found = int(text)
    if found < 1:
        raise ArgumentTypeError(f"{text} is not a valid number of workers; the minimum is 1")
    return found


def add_targets(add: Add) -> None:
    """Add the options that select the library under test."""
    add("--vendor", metavar="NAME", help="name of an installed vendor")
    add("--library", metavar="PATH", help="path of a library with a vendor table or DIOPI symbols")


def add_options(add: Add) -> None:
    """Add the options that describe the library and select cases."""
    add(
        "--runtime",
        metavar="PATH",
        help="path of a library with the devices of a legacy --library (a vendor table), or with "
        "functions that it needs, loaded first",
    )
    add(
        "--simulate",
        action="store_true",
        help="use the simulated driver of --vendor, which needs no device",
    )
    add(
        "--adaptor",
        metavar="FILE",
        help="adaptor file with conversions for its operators (default: the vendor's own)",
    )
    add(
        "--own-operators",
        action="store_true",
        help="call only the operators of --vendor itself, not those that other wheels add",
    )
    add(
        "--unguarded",
        action="store_true",
        help="do not guard the memory around tensors; a sanitizer then checks reads there too",
    )
    add(
        "--known-failures",
        metavar="FILE",
        help="file with names of cases that are known to fail (default: the vendor's own)",
    )
    add(
        "--profile",
        metavar="NAME",
        help="run what a profile promises; unsupported cases fail",
    )
    add(
        "--fname",
        action="append",
        default=[],
        metavar="OP",
        help="operator name or pattern: Add, 'diopiFore*' (repeatable)",
    )
    add(
        "--only-dtype",
        action="append",
        default=[],
        metavar="DTYPE",
        help="run only cases of this dtype (repeatable)",
    )
    add(
        "--skip-dtype",
        action="append",
        default=[],
        metavar="DTYPE",
        help="leave out cases of this dtype, and mixed calls with it (repeatable)",
    )
    add("--nhwc", action="store_true", help="run only cases with channels-last tensors")
    add("--model", action="append", default=[], metavar="NAME", help="run only calls of this model")
    add(
        "--cases",
        action="extend",
        nargs="+",
        default=[],
        metavar="FILE",
        help="case files to run as well, as `dl bundle to-conformance` writes them",
    )
    add("--sample", default="1", metavar="N/SEED", help="run one case in N, chosen by the seed")
    add(
        "--seconds",
        type=seconds,
        default=60.0,
        metavar="S",
        help="timeout in seconds of a case, or of each call if it makes many, without the time in "
        "which it waits for a processor (default: 60)",
    )


def target_of(options: Options) -> tuple[Target, frozenset[str]]:
    """Return the library under test and the names of its cases that are known to fail.

    :raises TargetError: no library is given, or its list names an unknown case.
    :raises CaseFileError: a file is invalid.
    """
    file = options.known_failures
    if options.library and options.vendor:
        raise TargetError("give either --vendor NAME or --library PATH, not both")
    if options.simulate and not options.vendor:
        raise TargetError(
            "--simulate uses the simulated driver of a vendor: name one with --vendor"
        )
    if options.library:
        target = of_library(options.library, options.runtime)
    elif options.vendor:
        target, own = of_vendor(
            options.vendor, options.simulate, own_operators=options.own_operators
        )
        file = file or (str(own) if own else None)
    else:
        raise TargetError("name a library to test: --vendor NAME or --library PATH")
    target = replace(target, guarded=not options.unguarded)
    if options.adaptor:
        target = replace(target, adaptor=str(Path(options.adaptor).absolute()))
    known = read_known_failures(Path(file)) if file else frozenset()
    named = (case.name for case in all_cases())
    files = cases_of_files(options.cases)
    if known and (unknown := known.difference(checks(), named, files)):
        raise TargetError(f"{file}: unknown case {min(unknown)!r}")
    return target, known


def selection_of(options: Options) -> Selection:
    """Return the selection of cases.

    :raises SelectionError: an option is malformed.
    :raises TargetError: the profile, or a name in it, is unknown.
    """
    parts, seed = sample_of(options.sample)
    promised = None
    if options.profile:
        promised = profile(options.profile)
        check_promises(options.profile, promised)
    return Selection(
        operators=options.fname,
        dtypes=options.only_dtype,
        skipped_dtypes=options.skip_dtype,
        layout="channels-last" if options.nhwc else "",
        models=options.model,
        files=options.cases,
        parts=parts,
        seed=seed,
        promised=promised,
    )

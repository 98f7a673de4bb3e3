"""The options that the command and the plugin of pytest share, and what they ask for."""

from __future__ import annotations

from argparse import ArgumentTypeError
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

from .catalog import all_cases, cases_of_files
from .checks.check import checks
from .selection import Selection, sample_of
from .target import Target, TargetError, of_library, of_vendor, profile, read_known_failures

Add = Callable[..., Any]
"""``add_argument`` of argparse, or ``addoption`` of pytest."""


class Options(Protocol):
    """What either of them parsed."""

    vendor: str | None
    library: str | None
    runtime: str | None
    adaptor: str | None
    simulate: bool
    unguarded: bool
    known_failures: str | None
    profile: str | None
    fname: list[str]
    filter_dtype: list[str]
    nhwc: bool
    model: list[str]
    cases: list[str]
    sample: str


LONGEST = 24 * 3600.0
"""Seconds of a case."""


def seconds(text: str) -> float:
    """How long a case may take.

    :raises ArgumentTypeError: no case can take so long.
    """
    found = float(text)
    if not 0 < found <= LONGEST:
        raise ArgumentTypeError(f"{text} is not between 0 and {LONGEST:g} seconds")
    return found


def jobs(text: str) -> int:
    """How many workers.

    :raises ArgumentTypeError: there are none.
    """
    found = int(text)
    if found < 1:
        raise ArgumentTypeError(f"{text} is no number of workers; 1 is the least")
    return found


def add_targets(add: Add) -> None:
    """What is tested."""
    add("--vendor", metavar="NAME", help="an installed vendor")
    add("--library", metavar="PATH", help="a library, of either style")


def add_options(add: Add) -> None:
    """What is known of the library, and which cases run."""
    add("--runtime", metavar="PATH", help="a library that --library takes functions from")
    add(
        "--simulate",
        action="store_true",
        help="with a simulated driver, where --vendor has one: no device is needed or judged",
    )
    add(
        "--adaptor",
        metavar="FILE",
        help="what is converted for its operators; default: the vendor's own adaptor file",
    )
    add(
        "--unguarded",
        action="store_true",
        help="leave the memory around tensors to a sanitizer, which sees reads there too",
    )
    add(
        "--known-failures",
        metavar="FILE",
        help="names of cases that fail; default: the vendor's own",
    )
    add(
        "--profile",
        metavar="NAME",
        help="what a profile promises, and nothing of it is unsupported",
    )
    add(
        "--fname",
        action="append",
        default=[],
        metavar="OP",
        help="an operator: Add, 'diopiFore*'",
    )
    add(
        "--filter-dtype",
        action="append",
        default=[],
        metavar="DTYPE",
        help="cases of a dtype",
    )
    add("--nhwc", action="store_true", help="cases whose tensors are channels-last")
    add("--model", action="append", default=[], metavar="NAME", help="the calls of a model")
    add(
        "--cases",
        action="extend",
        nargs="+",
        default=[],
        metavar="FILE",
        help="cases of files too, as `dl bundle to-conformance` writes them",
    )
    add("--sample", default="1", metavar="N/SEED", help="one case of N, chosen by the seed")
    add(
        "--seconds",
        type=seconds,
        default=60.0,
        metavar="S",
        help="how long a case may take (60)",
    )


def target_of(options: Options) -> tuple[Target, frozenset[str]]:
    """What to test, and the names of its cases that are known to fail.

    :raises TargetError: there is none, or its list names a case that there is not.
    :raises CaseFileError: a file has no cases.
    """
    file = options.known_failures
    if options.library and options.vendor:
        raise TargetError("name one thing to test: --vendor NAME or --library PATH")
    if options.simulate and not options.vendor:
        raise TargetError("--simulate asks a vendor for its simulated driver: name it by --vendor")
    if options.library:
        target = of_library(options.library, options.runtime)
    elif options.vendor:
        target, own = of_vendor(options.vendor, options.simulate)
        file = file or (str(own) if own else None)
    else:
        raise TargetError("name what to test: --vendor NAME or --library PATH")
    target = replace(target, guarded=not options.unguarded)
    if options.adaptor:
        target = replace(target, adaptor=str(Path(options.adaptor).absolute()))
    known = read_known_failures(Path(file)) if file else frozenset()
    named = (case.name for case in all_cases())
    files = cases_of_files(options.cases)
    if known and (unknown := known.difference(checks(), named, files)):
        raise TargetError(f"{file}: there is no case {min(unknown)!r}")
    return target, known


def selection_of(options: Options) -> Selection:
    """The cases that are asked for.

    :raises SelectionError: an option is malformed.
    :raises TargetError: there is no such profile.
    """
    parts, seed = sample_of(options.sample)
    return Selection(
        operators=options.fname,
        dtypes=options.filter_dtype,
        layout="channels-last" if options.nhwc else "",
        models=options.model,
        files=options.cases,
        parts=parts,
        seed=seed,
        promised=profile(options.profile) if options.profile else None,
    )

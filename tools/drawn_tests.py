"""pytest plugin that runs a sample of the tests, a different one for each commit.

``-p tools.drawn_tests --one-of N`` runs one in N of the cases of every function, at least one;
``--functions K/M`` runs part K of M parts of the functions, counted from 0. The names of the tests
and the commit determine the sample, so that a tree always has the same result, and all cases run
eventually. In a folder given with ``--whole FOLDER``, all tests run.
"""

from __future__ import annotations

import argparse
import hashlib
import os
from collections import defaultdict
from pathlib import Path

import pytest

from dl_conformance.commit_seed import commit_seed

ROOT = Path(__file__).absolute().parents[1]
DRAWN = pytest.StashKey[tuple[int, int]]()
"""Numbers of cases that run and of collected cases."""


def _part(text: str) -> tuple[int, int]:
    """Return the number of a part and of all parts from ``K/M``."""
    part, _, parts = text.partition("/")
    if not (part.isdecimal() and parts.isdecimal() and int(part) < int(parts)):
        raise argparse.ArgumentTypeError(f"{text!r} is not K/M with 0 <= K < M")
    return int(part), int(parts)


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("drawn tests")
    group.addoption(
        "--one-of", metavar="N", type=int, default=1, help="run one in N cases (default: all)"
    )
    group.addoption(
        "--functions",
        metavar="K/M",
        type=_part,
        default=(0, 1),
        help="run part K of M (default: all)",
    )
    group.addoption("--whole", metavar="FOLDER", type=Path, action="append", default=[])


def pytest_report_header(config: pytest.Config) -> str | None:
    parts: int = config.getoption("--one-of")
    _, functions = config.getoption("--functions")
    if parts == functions == 1:
        return None
    of = "each function" if functions == 1 else f"one in {functions} functions"
    return f"drawn: one in {parts} of the cases of {of}, by commit {commit_seed(ROOT)}"


# After the hooks of conftest files: cases that they remove are not counted.
@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    parts: int = config.getoption("--one-of")
    if parts < 1:
        raise pytest.UsageError(f"--one-of={parts} is not 1 or more")
    part, of_functions = config.getoption("--functions")
    if parts == of_functions == 1:
        return
    seed = commit_seed(ROOT)
    whole = [folder.absolute() for folder in config.getoption("--whole")]
    functions: dict[str, list[str]] = defaultdict(list)
    for item in items:
        if not any(item.path.is_relative_to(folder) for folder in whole):
            functions[_function(item)].append(item.nodeid)
    total = len(items)
    left_out: set[str] = set()
    for function, names in functions.items():
        drawn = _number(f"{seed} {function}") % of_functions == part
        left_out.update(_undrawn(names, parts, seed) if drawn else names)
    config.hook.pytest_deselected(items=[item for item in items if item.nodeid in left_out])
    items[:] = [item for item in items if item.nodeid not in left_out]
    config.stash[DRAWN] = (len(items), total)


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    if counts := config.stash.get(DRAWN, None):
        terminalreporter.write_line("drawn: {:,} of {:,} cases".format(*counts))


def _function(item: pytest.Item) -> str:
    """Return the name of a test function without the parameters of its case."""
    # Relative, so that the sample does not depend on the place of the tree.
    path = os.path.relpath(item.path, ROOT)
    return f"{path}::{getattr(item, 'originalname', None) or item.name}"


def _number(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big")


def _undrawn(names: list[str], parts: int, seed: str) -> list[str]:
    """Return the cases that do not run; one in ``parts`` runs."""
    order = sorted(names, key=lambda name: hashlib.blake2b(f"{seed} {name}".encode()).digest())
    return order[-(-len(order) // parts) :]

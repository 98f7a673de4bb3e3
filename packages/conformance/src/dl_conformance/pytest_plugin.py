"""``pytest --pyargs dl_conformance --vendor NAME``: each case is a test of pytest's.

The suite is in :mod:`dl_conformance.test_operators`. What is imported here is imported by every
run of pytest where dl-conformance is installed: nothing more than the options.
"""

from __future__ import annotations

import pytest

from .options import add_options, add_targets


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("dl-conformance", "dl-conformance, with --pyargs dl_conformance")
    add_targets(group.addoption)
    add_options(group.addoption)

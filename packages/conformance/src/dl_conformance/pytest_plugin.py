"""pytest plugin: ``pytest --pyargs dl_conformance --vendor NAME`` runs each case as a test.

The tests are in :mod:`dl_conformance.test_operators`. Where dl-conformance is
installed, every run of pytest imports this module, so the module imports only the options.
"""

from __future__ import annotations

import pytest

from .options import add_options, add_targets


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("dl-conformance", "dl-conformance, with --pyargs dl_conformance")
    add_targets(group.addoption)
    add_options(group.addoption)

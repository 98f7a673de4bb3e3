"""pytest plugin: the setting and the summary of the tests of this package.

Where dl-torch-tests is installed, every run of pytest imports this module, so the module does not
import torch.
"""

from __future__ import annotations

import pytest

from .counts import COUNTS, Counts
from .vendor_lists import DEFAULT, SETTING


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addini(
        SETTING,
        "folders that may have a vendor's lists of known failures, relative to the root folder; "
        "{vendor} stands for the vendor's name",
        type="linelist",
        default=list(DEFAULT),
    )


def pytest_configure(config: pytest.Config) -> None:
    config.stash[COUNTS] = Counts()


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    for line in config.stash[COUNTS].lines():
        terminalreporter.write_line(line)

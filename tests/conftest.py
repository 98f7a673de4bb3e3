"""Selection of tests, for all tests of several wheels. Does not import torch; see core/, opinfo/.

``dl_torch_tests.sampling`` documents the variables. A share of 0 is for further vendors, and omits
tests that do not depend on one.
"""

from __future__ import annotations

import pytest

from dl_torch_tests.sampling import register, share_of

WITHOUT_DEVICE = ("architecture", "tools")
"""Folders whose tests use no device."""


def pytest_configure(config: pytest.Config) -> None:
    register(config)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if share_of(config) > 0:
        return
    left_out = {item for item in items if item.path.parent.name in WITHOUT_DEVICE}
    config.hook.pytest_deselected(items=list(left_out))
    items[:] = [item for item in items if item not in left_out]

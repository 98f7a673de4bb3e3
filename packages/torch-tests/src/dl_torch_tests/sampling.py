"""Selection of tests by their markers. Does not import torch.

``DL_TEST_SAMPLE`` is the fraction of the sampled tests that runs, from 0 to 1; 1 also runs tests
marked ``full``. ``DL_TEST_SEED`` selects the sample; its default is fixed, so that the same tree
always gives the same result.
"""

from __future__ import annotations

import hashlib
import os

import pytest

DEFAULT_SHARE = 0.02

MARKERS = (
    "sampled(least): one of many similar tests; a share of them (DL_TEST_SAMPLE), or at least "
    "that many, runs",
    "full: runs only with DL_TEST_SAMPLE=1",
    "vendor(name): runs if that vendor serves dl:0",
    "devices(count): runs if that many dl devices exist",
)
NAME = "dl-test-sample"
"""Name of the plugin."""


def register(config: pytest.Config) -> None:
    """Register the plugin that selects tests; conftest files of several folders call this."""
    if not config.pluginmanager.has_plugin(NAME):
        for marker in MARKERS:
            config.addinivalue_line("markers", marker)
        config.pluginmanager.register(Sample(), NAME)


def share_of(config: pytest.Config) -> float:
    """Return the fraction of the sampled tests that runs."""
    sample = config.pluginmanager.get_plugin(NAME)
    assert isinstance(sample, Sample)
    return sample.share


class Sample:
    """The tests that a run selects."""

    def __init__(self) -> None:
        self.share = float(os.environ.get("DL_TEST_SAMPLE") or DEFAULT_SHARE)
        if not 0 <= self.share <= 1:
            raise pytest.UsageError(f"DL_TEST_SAMPLE={self.share} is not between 0 and 1")
        self.seed = os.environ.get("DL_TEST_SEED") or "1"

    def takes(self, item: pytest.Item) -> bool:
        if item.get_closest_marker("full") and self.share < 1:
            return False
        sampled = item.get_closest_marker("sampled")
        if sampled is None:
            return True
        share = max(self.share, *sampled.args, 0.0)
        digest = hashlib.sha256(f"{self.seed} {_address(item)}".encode()).digest()
        return int.from_bytes(digest[:8], "big") < share * 2**64

    def pytest_report_header(self) -> str:
        return f"sample: share {self.share:g}, DL_TEST_SEED={self.seed}"

    def pytest_collection_modifyitems(
        self, config: pytest.Config, items: list[pytest.Item]
    ) -> None:
        """Deselect tests instead of skipping them, since they are not part of this run."""
        kept = [item for item in items if self.takes(item) and _fits_devices(item)]
        if len(kept) < len(items):
            keep = set(kept)
            config.hook.pytest_deselected(items=[item for item in items if item not in keep])
            items[:] = kept


def _address(item: pytest.Item) -> str:
    """Return the name that the sample depends on: the same wherever the package is installed."""
    module = getattr(item, "module", None)
    if module is not None and module.__name__.startswith(f"{__package__}."):
        return f"{module.__name__}::{item.name}"
    return item.nodeid


def _fits_devices(item: pytest.Item) -> bool:
    vendor, devices = item.get_closest_marker("vendor"), item.get_closest_marker("devices")
    if vendor is None and devices is None:
        return True
    import torch

    if not hasattr(torch, "dl"):
        return True  # to fail there, with the reason
    if vendor is not None and torch.dl.get_device_properties(0).vendor not in vendor.args:
        return False
    return devices is None or torch.dl.device_count() >= devices.args[0]

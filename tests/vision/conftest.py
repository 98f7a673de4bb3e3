"""Tests of torchvision on dl:0, if it is installed, as in ``tools/nox -s torch-matrix``."""

from __future__ import annotations

import importlib.util

from dl_torch_tests.models.fixtures import device, one_thread

__all__ = ["device", "one_thread"]

if importlib.util.find_spec("torchvision") is None:
    collect_ignore_glob = ["test_*.py"]

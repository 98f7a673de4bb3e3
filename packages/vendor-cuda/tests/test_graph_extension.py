"""Graphs, on a simulator of drivers: the tests that all such vendors have."""

from __future__ import annotations

from extension_tests.graphs import *  # noqa: F403 - pytest collects them here

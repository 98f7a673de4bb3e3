"""Shared tests of graphs, on a driver simulator."""

from __future__ import annotations

from extension_tests.graphs import *  # noqa: F403 - pytest collects them here

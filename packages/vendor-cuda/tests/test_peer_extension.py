"""Peers, on a simulator of drivers: the tests that all such vendors have."""

from __future__ import annotations

from extension_tests.peers import *  # noqa: F403 - pytest collects them here

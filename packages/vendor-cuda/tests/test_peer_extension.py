"""Shared tests of peer access, on a driver simulator."""

from __future__ import annotations

from extension_tests.peers import *  # noqa: F403 - pytest collects them here

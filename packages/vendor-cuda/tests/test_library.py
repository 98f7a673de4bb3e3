"""Shared tests of the built library."""

from __future__ import annotations

from driver_tests.library import *  # noqa: F403 - pytest collects them here

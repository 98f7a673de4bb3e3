"""Shared tests of the plugin."""

from __future__ import annotations

from driver_tests.plugin import *  # noqa: F403 - pytest collects them here

"""Shared tests of graphs, on fakes of CANN's runtime and operator library."""

from __future__ import annotations

from extension_tests.graphs import (  # noqa: F401 - pytest collects them here
    test_a_wait_during_a_capture_is_refused_and_the_capture_continues,
    test_captured_work_runs_with_each_launch_and_not_before,
    test_torch_replays_a_graph,
)

from conftest import with_fakes

pytestmark = with_fakes

"""Tests of compiled models whose operators are fused into kernels in OpenCL C."""

from __future__ import annotations

import importlib.util

import pytest

from processes import Vendor


@pytest.mark.skipif(importlib.util.find_spec("dl_dicp") is None, reason="dl-dicp is not installed")
def test_operators_are_fused_into_one_kernel(vendor: Vendor) -> None:
    """Every build has these operators, also a build with few families."""
    vendor.run(
        """
        import torch
        from dl_dicp import statistics
        from dl_dicp.engines.codegen import graph_engine, racing
        graph_engine.FEWEST_ELEMENTS = 0
        # Run the kernel whether it is faster or not.
        racing.RacingProgram._raced = racing.RacingProgram._trusted
        def function(x, y):
            z = torch.relu(x * 2 + y) - x
            return z, z.sum(-1)
        options = {"engine": "codegen", "patterns": False}
        compiled = torch.compile(function, backend="dl", options=options)
        x, y = (torch.randn(6, 130).to("dl") for _ in range(2))
        for _ in range(4):
            made = compiled(x, y)
            racing.wait_for_kernels()
        assert statistics.engine_runs["codegen"] and not statistics.dropped, statistics.dropped
        for one, other in zip(made, function(x.cpu(), y.cpu())):
            torch.testing.assert_close(one.cpu(), other, rtol=1e-5, atol=1e-4)
        """
    )

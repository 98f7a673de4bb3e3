"""Tests of dl-autotune on this vendor."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from processes import Vendor

EXAMPLE = Path(__file__).parents[3] / "examples" / "tune_gemm" / "gemm_opencl.py"


def test_a_kernel_in_opencl_c_is_tuned(vendor: Vendor, tmp_path: Path) -> None:
    if importlib.util.find_spec("dl_autotune") is None:
        pytest.skip("dl-autotune is not installed")
    output = vendor.run(
        f"""
        import os, sys
        os.chdir({str(tmp_path)!r})
        sys.argv = ["dl", "tune", "kernel", {str(EXAMPLE)!r}, "--vendor", "opencl",
                    "--evaluations", "5", "--seed", "3"]
        from dl_core.cli import main
        sys.exit(main())
        """
    )
    assert "5 configurations; failed: none" in output
    assert "default GROUP_X=8" in output and "best" in output


def test_an_operator_is_tuned(vendor: Vendor, tmp_path: Path) -> None:
    """Any plan may win, so the test is that plans are raced and a verdict is given."""
    if importlib.util.find_spec("dl_autotune") is None:
        pytest.skip("dl-autotune is not installed")
    output = vendor.run(
        f"""
        import os, sys
        os.chdir({str(tmp_path)!r})
        sys.argv = ["dl", "tune", "op", "mm", "--shapes", "64x512", "512x64", "--vendor", "opencl",
                    "--seconds", "10", "--processes", "2"]
        from dl_core.cli import main
        sys.exit(main())
        """,
        XDG_DATA_HOME=str(tmp_path),
        XDG_CACHE_HOME=str(tmp_path),
    )
    assert "choices product: " in output and "large" in output
    assert "verdict" in output

"""The reference vendor passes a sample of the suite without torch."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from dl_conformance.commit_seed import commit_seed
from dl_conformance.target import of_vendor

SEED = commit_seed(Path(__file__).parent)
WITHOUT_TORCH = """
import sys
from dl_conformance import catalog, execution
from dl_conformance.target import of_library
with of_library(sys.argv[1]).load() as vendor:
    case = catalog.case_named("diopiExp[float32-5]")
    assert execution.run(vendor, case).status == "passed"
assert "torch" not in sys.modules
"""


def test_a_tenth_of_the_cases_passes(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    options = (
        "--vendor",
        "cpu",
        "--sample",
        f"10/{SEED}",
        "--json",
        str(report),
    )
    command = [sys.executable, "-m", "dl_conformance", *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, " ".join(command) + done.stdout + done.stderr
    counts = json.loads(report.read_text())["counts"]
    assert counts["failed"] == 0
    assert counts["passed"] > 1200


def test_suite_needs_no_torch() -> None:
    library = of_vendor("cpu")[0].library
    subprocess.run([sys.executable, "-c", WITHOUT_TORCH, library], check=True)

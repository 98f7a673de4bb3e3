"""A device that works no more ends one case: the next one has a process in which it works."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from diopi_proto.build import compile_library
from dl_vendor_kit import include_dir


def test_the_cases_after_it_run(tmp_path: Path) -> None:
    source, report = Path(__file__).with_name("lost.cpp"), tmp_path / "report.json"
    library = compile_library(tmp_path / "liblost.so", [source], include_dirs=[include_dir()])
    chosen = ("--fname", "Relu", "--filter-dtype", "float32", "-k", "not refused", "--jobs", "1")
    command = [sys.executable, "-m", "dl_conformance", "--library", str(library), *chosen]
    done = subprocess.run(
        [*command, "--json", str(report)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1, done.stdout + done.stderr
    cases = {x["name"]: x for x in json.loads(report.read_text())["cases"]}
    failed = {name: x["detail"] for name, x in cases.items() if x["status"] == "failed"}
    assert failed and all("-5" in name for name in failed)
    for detail in failed.values():
        assert "the device fell off the bus" in detail
        assert detail.endswith("the next case gets another one")
    assert sum(x["status"] == "passed" for x in cases.values()) > 5

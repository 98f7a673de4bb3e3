"""Checks of slots that docs/vendor.md of dl-diopi-proto calls optional are skipped without them."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

MINIMAL = Path(__file__).parents[3] / "examples" / "vendor-minimal" / "csrc" / "vendor.c"
SKIPPED = {
    "every device has a name, memory and dtypes": "device_properties is optional",
    "free memory is at most total memory": "memory_info is optional",
    "freed memory can be allocated again": "memory_info is optional",
    "the default stream is that of the device that the call names": "the library has one device",
    "operators run on the device of their context": "the library has one device",
    "an event covers the work before it on its stream": "event_create is missing",
    "event_query tells when the recorded work is finished": "event_create is missing",
    "stream_wait_event delays later work until the recorded work is finished": (
        "event_create is missing"
    ),
    "an event can be recorded again": "event_create is missing",
    "a wait outlives its event": "stream_wait_event is missing",
    "a new event has no record of a destroyed one": "event_create is missing",
    "event_elapsed measures the work in milliseconds": "event_create is missing",
}


def test_vendor_without_them_fails_no_check(compile_c: Callable[..., Path], tmp_path: Path) -> None:
    library, report = compile_c(MINIMAL), tmp_path / "report.json"
    # The other checks compute, which is slow with this vendor.
    chosen = (
        "--fname",
        "runtime",
        "-k",
        "(memory or device or event) not (thousands or waits or copies)",
    )
    command = [sys.executable, "-m", "dl_conformance", "--library", str(library), *chosen]
    done = subprocess.run([*command, "--json", str(report)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    cases = json.loads(report.read_text())["cases"]
    skipped = {
        x["name"][len("runtime[") : -1]: x["cause"] for x in cases if x["status"] != "passed"
    }
    assert skipped.keys() == SKIPPED.keys()
    for name, why in SKIPPED.items():
        assert skipped[name].startswith(why)
    assert "runtime[an allocation beyond the memory is refused, and the device still works]" in {
        x["name"] for x in cases if x["status"] == "passed"
    }

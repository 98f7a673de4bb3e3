"""``dl vendor check`` names faults in a vendor's table, and reports none in a correct vendor."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from diopi_proto.build import compile_library
from dl_vendor_kit.project import render

# The library under test is a separate vendor, so that one run is enough.
pytestmark = pytest.mark.vendor("cpu")


class Fault(NamedTuple):
    """A fault in a vendor of kind ``c`` with separate memory.

    :ivar subject: subject of the finding.
    :ivar words: words of the finding.
    """

    file: str
    old: str
    new: str
    subject: str
    words: str


FAULTS: Mapping[str, Fault] = {
    "misaligned blocks": Fault(
        *("driver.c", "ALIGNMENT = 256", "ALIGNMENT = 8"),
        *("calls", "64"),
    ),
    "no memory_copy": Fault(
        *("vendor.c", "    .memory_copy = memory_copy,\n", ""),
        *("table", "memory_copy, which every vendor needs"),
    ),
    "invalid devices": Fault(
        *("vendor.c", "device < driver_device_count()", "device <= driver_device_count()"),
        *("errors", "succeeds for device 1, which does not exist"),
    ),
    "no message": Fault(
        *("vendor.c", '"the device does not exist"', '""'),
        *("errors", "refuses device -1 without a message"),
    ),
    "unfinished events": Fault(
        *("vendor.c", "*finished = fence == NULL || driver_is_signaled(fence)", "*finished = 0"),
        *("streams", "an event"),
    ),
    "uploads on the default stream": Fault(
        "vendor.c",
        "stream, &queue);\n  if (status != NULL || bytes",
        "kind == DL_COPY_HOST_TO_DEVICE ? NULL : stream, &queue);\n  if (status != NULL || bytes",
        *("copy_order", "an upload from pageable memory ran before work"),
    ),
    "crash": Fault(
        *("vendor.c", "  free(event);", "  abort();"),
        *("events", "crash: SIGABRT; `python -m dl_conformance --library"),
    ),
    "hang": Fault(
        # Few checks call this slot: each waits for its deadline.
        *("vendor.c", "*milliseconds = driver_milliseconds(last)", "for (;;); *milliseconds = 0"),
        *("events", "hang: longer than"),
    ),
    "other signature": Fault(
        *("operators.c", "DL_C_OPERATOR(diopiNeg)"),
        '{"diopiNeg", 1, (dl_function_t)(void (*)(void))diopiNeg, 0}',
        *("table", "diopiNeg: compiled for other signatures"),
    ),
}


def build(folder: Path, fault: Fault | None = None) -> Path:
    """Return the library of a project, with a fault in its sources."""
    sources = []
    for path, text in render("chip", "c", "separate").items():
        if not path.startswith("csrc/"):
            continue
        file = folder / path.removeprefix("csrc/")
        if fault is not None and file.name == fault.file:
            assert text.count(fault.old) == 1
            text = text.replace(fault.old, fault.new)
        file.write_text(text)
        sources += [file] if file.suffix == ".c" else []
    return compile_library(
        folder / "libchip.so",
        sources,
        macros=['-DVENDOR_VERSION="1"'],
        compile_flags=["-O1", "-pthread"],
        link_flags=["-pthread", "-Wl,-z,nodelete"],
    )


def check(library: Path, *options: str) -> tuple[int, Any]:
    """Return the exit status and the report of a check."""
    command = (sys.executable, "-m", "dl_core", "vendor", "check", str(library), "--json")
    done = subprocess.run([*command, *options], capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1, 2), done.stderr
    return done.returncode, json.loads(done.stdout) if done.stdout else done.stderr


def test_correct_vendor_has_no_findings(tmp_path: Path) -> None:
    status, verdict = check(build(tmp_path))
    assert (status, verdict["findings"], verdict["incomplete"]) == (0, [], "")
    assert verdict["ran"] > 15
    # Uploads of the project wait for their stream, which then is no longer busy.
    assert not [reason for _, reason in verdict["skipped"] if "inconclusive" in reason]


@pytest.mark.parametrize("name", FAULTS)
def test_fault_is_named_with_a_remedy(name: str, tmp_path: Path) -> None:
    fault = FAULTS[name]
    status, verdict = check(build(tmp_path, fault), "--seconds", "10")
    assert status == 1
    texts = [x["text"] for x in verdict["findings"] if x["subject"] == fault.subject]
    matching = [text for text in texts if fault.words in text]
    assert matching, verdict["findings"]
    assert all("; " in text and "\n" not in text for text in matching)


def test_library_that_cannot_be_tested_is_not_correct(tmp_path: Path) -> None:
    status, said = check(tmp_path / "missing.so")
    assert status == 2 and "no such file" in said
    file = tmp_path / "text.so"
    file.write_text("text")
    status, said = check(file)
    assert status == 2 and "text.so" in said

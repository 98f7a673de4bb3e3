"""An unusable vendor library is one warning at `import torch`; everything else works."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .processes import RUNS_ONCE, output
from .stub_vendor import WHEEL, StubVendor

pytestmark = RUNS_ONCE

ENTRY = """
#include "dl/vendor.h"
extern "C" DL_EXPORT dl_status_t* {name}(const dl_host_t*, dl_vendor_t**) {{ {body} }}
"""
CRASH = "#include <csignal>\n__attribute__((constructor)) void start() { raise(SIGSEGV); }"
HANG = "#include <unistd.h>\n__attribute__((constructor)) void start() { for (;;) pause(); }"
REFUSE = """
static dl_status_t status = {sizeof(dl_status_t), DL_UNAVAILABLE, 0, "the firmware is too old",
                             nullptr, [](dl_status_t*) {}};
return &status;
"""


def break_vendor(vendor: StubVendor, kind: str) -> None:
    entry = ENTRY.format(name="dl_vendor_v1", body=REFUSE)
    if kind == "missing":
        return
    if kind == "other interface":
        vendor.compile(ENTRY.format(name="dl_vendor_v2", body="return nullptr;"))
    elif kind in ("crash", "hang"):
        vendor.compile((CRASH if kind == "crash" else HANG) + "\n" + entry)
    else:
        vendor.compile(entry)
    content = bytearray(vendor.library.read_bytes())
    if kind == "other machine":
        content[18:20] = (243 if content[18] != 243 else 62).to_bytes(2, "little")
    elif kind == "damaged":
        del content[len(content) // 3 :]
    vendor.library.write_bytes(content)


@pytest.mark.parametrize("others", ["", ",cpu"])
@pytest.mark.parametrize(
    ("kind", "cause"),
    [
        ("missing", "does not exist"),
        ("other machine", "riscv"),
        ("damaged", "cannot be read"),
        ("other interface", "ABI 2"),
        ("crash", "SIGSEGV"),
        ("hang", "longer than 1 second"),
        ("refusal", "the firmware is too old"),
    ],
)
def test_broken_library_is_one_warning(tmp_path: Path, kind: str, cause: str, others: str) -> None:
    vendor = StubVendor(tmp_path)
    break_vendor(vendor, kind)
    code = """
import json, warnings
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    import torch
print(json.dumps([str(w.message) for w in seen if w.category is RuntimeWarning]))
assert torch.ones(2).sum().item() == 2
print(hasattr(torch, "dl") and torch.ones(2, device="dl").sum().item())
"""
    variables = {**vendor.variables("stub" + others), "DL_PROBE_TIMEOUT": "1"}
    said, computed = output(code, **variables).splitlines()
    (warning,) = json.loads(said)
    assert WHEEL in warning and cause in warning and "pip install" in warning
    assert computed == ("2.0" if others else "False")

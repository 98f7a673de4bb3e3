"""The worked examples of the documentation run over drivers of their shapes, without findings."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from diopi_proto.build import compile_library
from dl_vendor_kit import include_dir

# The libraries are vendors of their own: once is enough.
pytestmark = pytest.mark.vendor("cpu")

KIT = Path(__file__).parents[2] / "packages" / "vendor-kit"
DRIVERS = Path(__file__).parent / "drivers"
EXAMPLES = {
    # Text that only the example has, its page, and the name of its driver's library.
    "npu": ("npu_create_buffer", "docs/new-vendor.md", "libnpu.so"),
    "toy": ("DL_KIT_CUDA_SHAPED", "docs/vendors.md", "libtoy.so.1"),
}
RELU = """
import sys
from diopi_proto import load_vendor
with load_vendor(sys.argv[1]) as vendor:
    out = vendor.empty((3,))
    vendor.op.Relu(out, vendor.tensor([-1.0, 2.0, 3.0], "float32"))
    print(out.numpy().tolist())
"""


@pytest.mark.parametrize("name", EXAMPLES)
def test_example_runs_over_its_driver(name: str, tmp_path: Path) -> None:
    mark, page, library = EXAMPLES[name]
    blocks = re.findall(r"```cpp\n(.*?)```", (KIT / page).read_text(encoding="utf-8"), re.DOTALL)
    (code,) = [block for block in blocks if mark in block]
    driver = tmp_path / library
    flags = ("-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror", "-pthread")
    command = ["gcc", *flags, str(DRIVERS / f"{name}.c"), "-o", str(driver)]
    subprocess.run(command, check=True)
    source = tmp_path / "vendor.cpp"
    source.write_text(code)
    # A driver like CUDA's is opened by its name; the other example leaves that to the reader.
    link = [] if library.endswith(".1") else [str(driver)]
    vendor = compile_library(
        tmp_path / "libvendor.so",
        [source],
        include_dirs=[include_dir()],
        compile_flags=["-O1", "-Wall", "-Wextra"],
        link_flags=link,
        # A wheel may not need a driver.
        check=False,
    )
    environ = {**os.environ, "LD_LIBRARY_PATH": str(tmp_path)}

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, *arguments]
        return subprocess.run(command, env=environ, capture_output=True, text=True, check=False)

    said = run("-c", RELU, str(vendor))
    assert said.stdout == "[0.0, 2.0, 3.0]\n", said.stderr
    verdict = json.loads(run("-m", "dl_core", "vendor", "check", str(vendor), "--json").stdout)
    # The file lists the driver as a library that it needs, which a wheel must not do.
    findings = [each for each in verdict["findings"] if not (link and each["subject"] == "file")]
    assert (findings, verdict["incomplete"]) == ([], "")
    assert verdict["ran"] > 5

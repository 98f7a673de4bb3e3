"""The vendor in docs/vendor.md of dl-diopi-proto: built, installed, run on both hosts."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from core.processes import output, path_with

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "vendor-minimal"
PAGE = ROOT / "packages" / "diopi-proto" / "docs" / "vendor.md"
HEADER = ROOT / "packages" / "diopi-proto" / "include" / "dl" / "vendor.h"

# These tests use their own vendor, so that one run is enough.
pytestmark = pytest.mark.vendor("cpu")


def pip(*arguments: str | Path) -> None:
    command = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", *arguments]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("vendor-minimal")
    # Building writes files next to the sources.
    source = shutil.copytree(EXAMPLE, folder / "source")
    pip("wheel", "--no-deps", "--no-build-isolation", "--no-index", "-w", folder, source)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path) -> dict[str, str]:
    """Return the environment of a process in which the wheel is installed."""
    target = wheel.parent / "target"
    pip("install", "--no-deps", "--no-index", "--target", target, wheel)
    cache = str(wheel.parent / "cache")
    return {"PYTHONPATH": path_with(target), "DL_VENDORS": "minimal", "XDG_CACHE_HOME": cache}


def code_blocks(language: str) -> list[str]:
    """Return the code blocks of the page in a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)


def test_the_page_shows_the_files_as_they_are() -> None:
    for language, name in (
        ("c", "csrc/vendor.c"),
        ("python", "src/dl_vendor_minimal/plugin.py"),
        ("python", "setup.py"),
        ("toml", "pyproject.toml"),
    ):
        assert (EXAMPLE / name).read_text() in code_blocks(language), (
            f"the tutorial has a different {name}"
        )


def slots() -> list[str]:
    """Return the function pointers of dl_vendor_table_t, in order."""
    body = HEADER.read_text().partition("typedef struct dl_vendor_table {")[2].partition("}")[0]
    return re.findall(r"\(\*(\w+)\)\(", body)


def rows() -> dict[str, tuple[str, str]]:
    """Return the page's requirements of each slot: for asynchronous and for synchronous vendors."""
    table = PAGE.read_text().partition("### Slots")[2].partition("### Operators")[0]
    found = re.findall(r"^\| `(\w+)` \| ([^|]+) \| ([^|]+) \|", table, re.MULTILINE)
    return {name: (one.strip(), two.strip()) for name, one, two in found}


def test_the_page_has_a_row_for_every_slot() -> None:
    assert list(rows()) == slots()
    assert len(slots()) > 20


def test_the_example_fills_what_is_required_and_its_operators() -> None:
    """The example lacks optional slots, so that the hosts are tested without them."""
    source = (EXAMPLE / "csrc" / "vendor.c").read_text()
    filled = set(re.findall(r"^    \.(\w+) = ", source, re.MULTILINE)) & set(slots())
    required = {name for name, (_, synchronous) in rows().items() if synchronous == "required"}
    assert filled == required | {"operators", "last_error"}


def test_the_wheel_serves_every_python(wheel: Path) -> None:
    assert re.fullmatch(r"dl_vendor_minimal-0\.1\.0-py3-none-linux_\w+\.whl", wheel.name)
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert "dl_vendor_minimal/lib/libdl_vendor_minimal.so" in names
    assert not [name for name in names if name.endswith(".c")]


def test_the_pages_own_examples_run(installed: dict[str, str]) -> None:
    with_torch, without = (
        x for x in code_blocks("python") if x.startswith(("import torch", "from importlib"))
    )
    said = output(with_torch, **installed)
    # linspace is not among its operators.
    assert said.startswith("minimal tensor(") and "'native': 2, 'fallback': 1" in said
    # Without torch: importing it fails.
    blocked = "import sys; sys.modules['torch'] = None\n"
    assert output(blocked + without, **installed) == "minimal [[0. 2.]]"


def test_operators_run_natively_under_torch(installed: dict[str, str]) -> None:
    output(
        """
import torch
exact = torch.randn(5, 7)
x = exact.to("dl")
with torch.dl.fallback("error"):
    sums = [x + x.t().t(), torch.add(x, x[:1], alpha=2), x[:, ::2] + x[:, 1:5], x.t() + x.t()]
    positive = torch.relu(x.t())
e = exact
want = [e + e, torch.add(e, e[:1], alpha=2), e[:, ::2] + e[:, 1:5], e.t() + e.t()]
assert all(torch.equal(a.cpu(), b) for a, b in zip(sums, want, strict=True))
assert torch.equal(positive.cpu(), e.t().relu())
assert torch.relu(torch.tensor([float("nan")], device="dl")).isnan().item()
big = torch.ones(300_000, device="dl")
assert (big + big).sum().item() == 600_000
""",
        **installed,
    )


def test_what_it_declines_or_lacks_runs_on_the_cpu(installed: dict[str, str]) -> None:
    output(
        """
import torch
torch.manual_seed(0)
double = torch.ones(3, dtype=torch.float64, device="dl")
assert (double + double).tolist() == [2] * 3
assert torch.dl.fallback_stats()["add.Tensor"]["count"] == 1
model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1)).to("dl")
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x = torch.randn(16, 4, device="dl")
losses = []
for _ in range(5):
    optimizer.zero_grad()
    loss = model(x).square().mean()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
assert losses == sorted(losses, reverse=True)
share = torch.dl.fallback_stats().share["calls"]
assert 0 < share < 1
import os, sys
sys.stdout.flush()
os._exit(0)
""",
        **installed,
    )


def test_torch_has_events_and_streams_where_the_vendor_has_none(installed: dict[str, str]) -> None:
    output(
        """
import torch
side, main = torch.Stream("dl"), torch.accelerator.current_stream()
start, end = (torch.Event("dl", enable_timing=True) for _ in range(2))
assert start.query(), "never recorded"
start.record()
with torch.dl.stream(side):
    y = torch.ones(1000, device="dl") + 1
end.record(side)
end.wait(main)
assert start.query() and end.query()
end.synchronize()
assert start.elapsed_time(end) > 0 > end.elapsed_time(start)
main.wait_stream(side)
side.wait_event(start)
again = side.record_event()
again.wait()
side.synchronize(), main.synchronize(), torch.accelerator.synchronize()
assert side.query() and y.sum().item() == 2000
y.record_stream(side)
for first, last in ((torch.Event("dl", enable_timing=True), end), (start, torch.Event("dl"))):
    try:
        first.elapsed_time(last)
    except (RuntimeError, ValueError):
        continue
    raise AssertionError("no time can be known")
assert torch.dl.get_device_name() == "minimal"
assert torch.float32 in torch.accelerator.get_device_capability()["supported_dtypes"]
torch.ones(3).pin_memory("dl").to("dl", non_blocking=True)
""",
        **installed,
    )


def test_the_torch_free_host_has_them_too(installed: dict[str, str]) -> None:
    output(
        """
import sys
sys.modules["torch"] = None
import numpy as np
from dl_vendor_minimal.plugin import dl_vendor
from diopi_proto import OperatorError, load_vendor
with load_vendor(dl_vendor().library) as vendor:
    assert vendor.present and vendor.device_count == 1
    assert vendor.properties().name == "minimal"
    x = vendor.tensor(np.arange(6, dtype=np.float32).reshape(2, 3))
    out = vendor.empty((2, 3))
    start, end, side = vendor.event(timing=True), vendor.event(timing=True), vendor.stream()
    start.record()
    vendor.op.Add(out, x, x, 0.5, stream=side)
    end.record(side)
    side.wait_event(start)
    end.synchronize()
    assert side.query() and end.elapsed_since(start) > 0
    assert out.numpy().tolist() == (np.arange(6).reshape(2, 3) * 1.5).tolist()
    vendor.synchronize()
    try:
        vendor.op.Relu(vendor.empty((2,), "int32"), vendor.empty((2,), "int32"))
    except OperatorError as error:
        assert "diopiDtypeNotSupported" in str(error)
    else:
        raise AssertionError("it computes float32 alone")
""",
        **installed,
    )


def test_dl_doctor_knows_it(installed: dict[str, str]) -> None:
    said = output(
        "import sys; from dl_core.cli import main; sys.exit(main(['doctor']))", **installed
    )
    assert "Vendor minimal (accelerator, priority 10), dl-vendor-minimal 0.1.0" in said
    assert "interface dl_vendor_v1, version 0.1.0, 2 operators" in said
    assert re.search(r"dl:0 +minimal +0 +minimal", said) and "Problems: none" in said

"""A chip that lacks int64 and float64 and requires channels-last, with an adaptor file."""

from __future__ import annotations

from pathlib import Path

import pytest

from .processes import output, run
from .stub_vendor import StubVendor

# These tests use their own vendor, so that running them for one vendor is enough.
pytestmark = pytest.mark.vendor("cpu")

FILE = """\
version: 1
all: {cast: {float64: float32}}
operators:
  diopiAdd: {cast: {int64: int32, uint8: int32}}
  diopiRelu: {layout: channels_last}
  diopiIndexSelect: {parameters: {index: {cast: {int64: int32}}}}
  diopiNonzero: {cast: {int64: int32}}
"""


def vendor(folder: Path, text: str) -> dict[str, str]:
    stub = StubVendor(folder, adaptor=text)
    return stub.compile(Path(__file__).with_name("narrow_vendor.cpp")).variables()


@pytest.fixture(scope="module")
def narrow(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return vendor(tmp_path_factory.mktemp("narrow"), FILE)


def test_operators_run_natively_in_the_dtypes_of_the_chip_and_are_counted(
    narrow: dict[str, str],
) -> None:
    code = """
import torch
x = torch.tensor([1, 2, 3], device="dl")
y = torch.tensor([1.5, 0.0, 2.0], dtype=torch.float64, device="dl")
with torch.dl.fallback("error"):
    integers, floats = x + x, torch.add(y, y, alpha=2)
    where = torch.nonzero(y)
assert integers.dtype is torch.int64 and integers.tolist() == [2, 4, 6]
assert floats.dtype is torch.float64 and floats.tolist() == [4.5, 0.0, 6.0]
assert where.dtype is torch.int64 and where.tolist() == [[0], [2]]
print(torch.dl.adaptor_stats())
torch.dl.reset_adaptor_stats()
assert torch.dl.adaptor_stats() == {}
"""
    assert output(code, **narrow) == str(
        {
            "diopiAdd": {
                "input: float64→float32": 1,
                "input: int64→int32": 1,
                "other: float64→float32": 1,
                "other: int64→int32": 1,
                "out: float32→float64": 1,
                "out: int32→int64": 1,
            },
            "diopiNonzero": {"input: float64→float32": 1, "out: int32→int64": 1},
        }
    )


def test_layouts_are_converted_and_strided_outputs_filled(narrow: dict[str, str]) -> None:
    output(
        """
import torch
torch.manual_seed(0)
exact = torch.randn(2, 3, 4, 5)
with torch.dl.fallback("error"):
    for x in (exact, exact.to(memory_format=torch.channels_last), exact.double()):
        want = x.clamp(min=0)
        assert torch.equal(torch.relu(x.to("dl")).cpu(), want)
    wide = torch.zeros(2, 3, 4, 10).to("dl")
    torch.ops.aten.relu.out(exact.to("dl"), out=wide[..., ::2])
assert torch.equal(wide.cpu()[..., ::2], exact.clamp(min=0))
assert not wide.cpu()[..., 1::2].any()
stats = torch.dl.adaptor_stats()["diopiRelu"]
assert stats["input: contiguous→channels_last"] == 2, stats
assert stats["input: float64 contiguous→float32 channels_last"] == 1, stats
""",
        **narrow,
    )


def test_a_value_that_does_not_fit_raises_and_leaves_no_trace(narrow: dict[str, str]) -> None:
    code = """
import torch
x = torch.tensor([1, 2**40], device="dl")
torch.dl.synchronize()
before = torch.dl.memory_allocated()
for _ in range(3):
    try:
        x + x
    except RuntimeError as error:
        said = str(error)
    else:
        raise AssertionError("it raised nothing")
torch.dl.synchronize()
assert torch.dl.memory_allocated() == before
assert x.tolist() == [1, 2**40]
print(said)
"""
    said = output(code, **narrow)
    assert said.startswith("[diopiAdd] input: the value 1099511627776 at position 1 does not fit")
    assert "(dl:0, vendor stub" in said


def test_what_the_chip_declines_runs_on_the_cpu(narrow: dict[str, str]) -> None:
    output(
        """
import torch
x = torch.tensor([-1.0, 2.0], dtype=torch.float64, device="dl")
assert torch.relu(x).tolist() == [0.0, 2.0]  # no four dimensions
assert torch.dl.fallback_stats()["relu"]["count"] == 1
assert (x * x).tolist() == [1.0, 4.0]  # an operator that it lacks
""",
        **narrow,
    )


def test_backward_and_threads_go_through_it(narrow: dict[str, str]) -> None:
    output(
        """
import threading
import torch
def work():
    x = torch.arange(6.0, dtype=torch.float64, device="dl").requires_grad_()
    for _ in range(20):
        y = x + x
    y.sum().backward()
    assert x.grad.tolist() == [2.0] * 6
threads = [threading.Thread(target=work) for _ in range(4)]
[t.start() for t in threads]
[t.join() for t in threads]
assert torch.dl.adaptor_stats()["diopiAdd"]["out: float32→float64"] >= 80
import os, sys
sys.stdout.flush()
os._exit(0)
""",
        **narrow,
    )


def test_doctor_and_coverage_say_that_it_is_active(narrow: dict[str, str]) -> None:
    for command in ("doctor", "coverage"):
        code = f"import sys; from dl_core.cli import main; sys.exit(main([{command!r}]))"
        said = run(code, **narrow).stdout
        assert "adaptor" in said and "float64→float32" in said, said


def test_a_file_that_is_wrong_leaves_the_vendor_out_with_the_reason(tmp_path: Path) -> None:
    variables = vendor(tmp_path, FILE.replace("channels_last", "nhwc"))
    done = run("import torch; print(hasattr(torch, 'dl'))", **variables)
    assert done.stdout == "False\n", done.stderr
    assert "adaptor.yaml:5: operators.diopiRelu.layout: got nhwc, expected one of" in done.stderr

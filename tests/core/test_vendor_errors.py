"""Errors inside a vendor become one exception or one warning that says what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from .processes import AFTER_BACKWARD, CONTROL, RUNS_ONCE, output
from .stub_vendor import StubVendor

pytestmark = RUNS_ONCE

PREPARE = """
import torch
x = torch.arange(1.0, 5.0, device="dl")
y = x.clone()

def attempt(action):
    try:
        action()
    except RuntimeError as error:
        assert type(error) is RuntimeError, type(error)
        return str(error)
    raise AssertionError("it raised nothing")
"""


@pytest.fixture(scope="module")
def failing(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    vendor = StubVendor(tmp_path_factory.mktemp("failing"))
    return vendor.compile(Path(__file__).with_name("failing_vendor.cpp")).variables()


@pytest.mark.parametrize(
    ("operation", "message"),
    [
        ("torch.neg(x)", "[diopiNeg] the sign unit is on strike (dl:0, vendor stub"),
        ("torch.neg(x, out=y)", "[diopiNeg] the sign unit is on strike (dl:0, vendor stub"),
        ("y.neg_()", "[diopiNeg] the sign unit is on strike (dl:0, vendor stub"),
        ("torch.exp(x)", "[diopiExp] the exponent ran away (dl:0, vendor stub"),
        ("torch.tanh(x)", "[diopiTanh] an exception that is not a std::exception (dl:0, vendor"),
        ("torch.rsqrt(x)", "[diopiRsqrt] the vendor gave no reason (dl:0, vendor stub"),
    ],
)
def test_failing_operator_raises_and_leaves_no_trace(
    failing: dict[str, str], operation: str, message: str
) -> None:
    code = f"""{PREPARE}
before = torch.dl.memory_allocated()
for _ in range(3):
    said = attempt(lambda: {operation})
assert torch.dl.memory_allocated() == before
assert x.tolist() == [1, 2, 3, 4]
assert (x * 2).tolist() == [2, 4, 6, 8]
print(said)
"""
    assert output(code, **failing).startswith(message)


@pytest.mark.parametrize("name", ["abs", "sqrt"])
def test_operator_that_declines_falls_back(failing: dict[str, str], name: str) -> None:
    code = f"""{PREPARE}
assert torch.equal(torch.{name}(x).cpu(), torch.{name}(x.cpu()))
torch.{name}(x, out=y)
assert torch.equal(y.cpu(), torch.{name}(x.cpu()))
assert sum(v["count"] for k, v in torch.dl.fallback_stats().items() if "{name}" in k) == 2
try:
    with torch.dl.fallback("error"):
        torch.{name}(x)
except NotImplementedError as error:
    print(error)
"""
    assert f"aten::{name}" in output(code, **failing)


def test_late_failure_is_reported_once_by_the_next_wait(failing: dict[str, str]) -> None:
    code = f"""{PREPARE}
torch.sigmoid(x)
print(attempt(torch.dl.synchronize))
torch.dl.synchronize()
assert (x * 2).tolist() == [2, 4, 6, 8]
"""
    said = output(code, **failing)
    assert "vendor stub: the fan stands still (in fan_status)" in said


def test_an_error_in_the_data_is_raised_once_by_a_wait(
    failing: dict[str, str],
) -> None:
    """The text of the error may be arbitrary; the test runs with and without streams."""
    code = f"""{PREPARE}
torch.sin(x)
print(attempt(torch.dl.synchronize))
torch.dl.synchronize()
"""
    said = output(code, **failing)
    assert said.startswith("[diopiSin] a wave of 1e-07 at -3\\n{lower}%s{.....")
    assert "..... (dl:0, vendor stub; detected at a synchronization of the stream" in said


def test_an_earlier_error_is_not_lost_to_one_that_is_raised_at_once(
    failing: dict[str, str],
) -> None:
    """Calls that a vendor rejects get torch's error messages from the CPU, which receives copies of
    the data."""
    code = f"""{PREPARE}
torch.sin(x)
print(attempt(lambda: torch.neg(x)))
print(attempt(lambda: torch.neg(x)))
"""
    first, second = output(code, **failing).splitlines()
    assert first.startswith("[diopiSin] a wave of")
    assert second.startswith("[diopiNeg] the sign unit is on strike")


def test_failure_in_a_backward_pass_reaches_the_caller(failing: dict[str, str]) -> None:
    """The backward of `sub` negates, in a thread of the autograd engine."""
    code = f"""{PREPARE}
leaf = x.clone().requires_grad_()
loss = (y - leaf).sum()
before = torch.dl.memory_allocated()
print(attempt(loss.backward))
leaf.grad = None
assert torch.dl.memory_allocated() == before
assert (leaf * 2).sum().item() == 20
{AFTER_BACKWARD}"""
    assert output(code, **failing).startswith("[diopiNeg] the sign unit is on strike")


def test_out_of_memory_names_the_bytes_and_the_remedy_and_can_be_caught() -> None:
    code = f"""
import torch
{CONTROL}
MIB = 1 << 20
kept = torch.empty(40 * MIB, dtype=torch.uint8, device="dl")
cached = torch.empty(10 * MIB, dtype=torch.uint8, device="dl")
del cached
before = torch.dl.memory_allocated()
try:
    torch.empty(50 * MIB, dtype=torch.uint8, device="dl")
except torch.OutOfMemoryError as error:
    print(error)
assert torch.dl.memory_allocated() == before
assert torch.dl.memory_stats()["num_ooms"] == 1
assert torch.dl.memory_reserved() == control.counters().live_bytes, "the cache was given back"
again = torch.empty(20 * MIB, dtype=torch.uint8, device="dl").fill_(3)
assert again.sum().item() == 60 * MIB
del kept, again
torch.empty(50 * MIB, dtype=torch.uint8, device="dl")
torch.empty(1, device="dl:1")
"""
    said = output(code, DL_VENDORS="async", DL_ASYNC_TEST_MEMORY=str(64 << 20))
    assert "50.00 MiB" in said and "dl:0" in said and "async" in said
    assert "smaller batch" in said and "empty_cache" in said


def test_cache_is_given_back_before_memory_is_said_to_be_out() -> None:
    code = """
import torch
for megabytes in (40, 50, 45, 60):
    x = torch.empty(megabytes << 20, dtype=torch.uint8, device="dl")
    del x
assert torch.dl.memory_stats()["num_ooms"] == 0
assert torch.dl.memory_stats()["num_alloc_retries"] == 2, "45 were cut from 50"
"""
    output(code, DL_VENDORS="async", DL_ASYNC_TEST_MEMORY=str(64 << 20))


def test_host_memory_of_a_call_outlives_it_on_a_device_without_events(
    failing: dict[str, str],
) -> None:
    code = f"""{PREPARE}
for _ in range(3):
    assert torch.cos(x).shape == (4,)
assert x.tolist() == [1, 2, 3, 4]
print("the process goes on")
"""
    assert output(code, **failing) == "the process goes on"

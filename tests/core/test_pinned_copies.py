"""Copies between pinned host memory and an asynchronous device do not wait."""

from __future__ import annotations

from .processes import CONTROL, RUNS_ONCE, output

pytestmark = RUNS_ONCE

PREPARE = f"""
import torch
{CONTROL}
"""


def run(code: str, **variables: str) -> str:
    return output(PREPARE + code, DL_VENDORS="async", DL_FALLBACK="error", **variables)


def test_pinned_copies_do_not_wait() -> None:
    run("""
source = torch.arange(1 << 18, dtype=torch.float32).pin_memory()
target = torch.empty(1 << 18).pin_memory()
torch.dl.synchronize()
control.hold()
x = source.to("dl", non_blocking=True)
target.copy_(x + 1, non_blocking=True)
assert not torch.dl.current_stream().query()
control.release()
torch.dl.synchronize()
assert torch.equal(target, source + 1)
""")


def test_pinned_memory_is_not_reused_before_it_is_read() -> None:
    run("""
source = torch.full((1 << 18,), 5.0).pin_memory()
address = source.data_ptr()
torch.dl.synchronize()
control.hold()
x = source.to("dl", non_blocking=True)
del source
assert torch.empty(1 << 18).pin_memory().data_ptr() != address
later = torch.zeros(1 << 18).pin_memory()
assert later.data_ptr() != address
control.release()
assert x.sum().item() == 5 * (1 << 18)
assert torch.zeros(1 << 18).pin_memory().data_ptr() == address
""")


def test_blocking_copies_of_pinned_memory_wait() -> None:
    """The caller may change the source, or read the target, immediately."""
    run("""
source = torch.full((1 << 18,), 5.0).pin_memory()
x = source.to("dl")
source.zero_()
assert x.sum().item() == 5 * (1 << 18)
target = torch.empty(1 << 18).pin_memory()
target.copy_(x + 1)
assert target.sum().item() == 6 * (1 << 18)
""")


def test_pageable_copies_are_safe_even_if_asked_not_to_block() -> None:
    run("""
for size in (16, 1 << 18):
    source = torch.full((size,), 5.0)
    x = source.to("dl", non_blocking=True)
    source.zero_()
    assert x.sum().item() == 5 * size
    target = torch.empty(size)
    target.copy_(x + 1, non_blocking=True)
    torch.dl.synchronize()
    assert target.sum().item() == 6 * size
""")


def test_pinned_memory_that_is_kept_for_later_makes_room() -> None:
    """Memory in use is not freed."""
    run(
        """
x = torch.empty(4 << 20, dtype=torch.uint8).pin_memory()
del x
y = torch.empty(6 << 20, dtype=torch.uint8).pin_memory()
assert y.is_pinned()
try:
    torch.empty(4 << 20, dtype=torch.uint8).pin_memory()
except torch.OutOfMemoryError as error:
    assert "pinned memory" in str(error), error
else:
    raise AssertionError("there is no room for it")
y.fill_(3)
del y
assert torch.empty(8 << 20, dtype=torch.uint8).pin_memory().is_pinned()
""",
        DL_ASYNC_TEST_PINNED=str(8 << 20),
    )


def test_pinned_memory_of_a_copy_in_flight_makes_no_room() -> None:
    run(
        """
source = torch.full((1 << 20,), 5.0).pin_memory()
torch.dl.synchronize()
control.hold()
x = source.to("dl", non_blocking=True)
del source
try:
    torch.empty(6 << 20, dtype=torch.uint8).pin_memory()
except torch.OutOfMemoryError:
    pass
else:
    raise AssertionError("there is no room for it")
control.release()
torch.dl.synchronize()
assert torch.empty(6 << 20, dtype=torch.uint8).pin_memory().is_pinned()
assert torch.equal(x.cpu(), torch.full((1 << 20,), 5.0))
""",
        DL_ASYNC_TEST_PINNED=str(8 << 20),
    )

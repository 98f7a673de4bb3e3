"""Errors that an asynchronous device finds in its data are raised on synchronization."""

from __future__ import annotations

import pytest

from .lacking import CALL
from .processes import CONTROL, RUNS_ONCE, output

pytestmark = RUNS_ONCE

PREPARE = f"""
import torch
{CONTROL}
x, bad = torch.arange(4.0, device="dl"), torch.tensor([3, 7], device="dl")
good = torch.tensor([3, 1], device="dl")
side = torch.dl.Stream()
torch.dl.synchronize()

def attempt(action):
    try:
        action()
    except IndexError as error:
        return str(error)
    raise AssertionError("it raised nothing")

def select(index=bad):
    # A held stream runs nothing: the call cannot have waited.
    control.hold()
    y = x.index_select(0, index)
    control.release()
    return y
"""
SAID = "[diopiIndexSelect] index 7 at position 1 is out of range [0, 4) (dl:0, vendor async; "


def run(code: str, **variables: str) -> str:
    return output(PREPARE + code, DL_VENDORS="async", **variables)


@pytest.mark.parametrize(
    "wait",
    [
        "torch.dl.synchronize()",
        "torch.dl.current_stream().synchronize()",
        "torch.accelerator.synchronize()",
        "y[0].item()",
        "y.cpu()",
        "y.tolist()",
        "(y + 1).sum().item()",
        "event.synchronize()",
        f"{CALL}(x.view(2, 2))",
        "torch.dl.empty_cache()",
    ],
)
def test_a_call_returns_and_waiting_for_it_raises_its_error(wait: str) -> None:
    said = run(f"""
y = select()
event = torch.dl.Event()
event.record()
print(attempt(lambda: {wait}))
torch.dl.synchronize()
event.synchronize()
assert y[0].item() == 3, "the rest was done"
assert select(good).tolist() == [3, 1]
""")
    assert said.startswith(SAID)


def test_no_other_stream_or_device_raises_it() -> None:
    said = run("""
there, zero = torch.arange(3.0, device="dl:1"), torch.zeros(1, dtype=torch.int64, device="dl:1")
select()
side.synchronize()
with torch.dl.stream(side):
    assert x.index_select(0, good).tolist() == [3, 1]
torch.dl.synchronize(1)
assert there.index_select(0, zero).item() == 0
print(attempt(torch.dl.synchronize))
torch.dl.synchronize()
""")
    assert said.startswith(SAID)


def test_two_streams_at_once_have_their_own_errors() -> None:
    said = run("""
select()
with torch.dl.stream(side):
    x.index_select(0, torch.tensor([-1], device="dl"))
print(attempt(side.synchronize))
print(attempt(torch.dl.current_stream().synchronize))
torch.dl.synchronize()
for _ in range(2):
    select()
    with torch.dl.stream(side):
        x.index_select(0, bad)
    attempt(torch.dl.synchronize)
    attempt(torch.dl.synchronize)
    torch.dl.synchronize()
""")
    first, second = said.splitlines()
    assert "index -1 at position 0" in first
    assert second.startswith(SAID)


def test_an_event_raises_what_was_before_it() -> None:
    said = run("""
early, late = torch.dl.Event(), torch.dl.Event()
select(good)
early.record()
early.synchronize()
select()
late.record()
early.synchronize()
print(attempt(late.synchronize))
late.synchronize()
torch.dl.synchronize()
""")
    assert said.startswith(SAID)


@pytest.mark.parametrize("index", ["good", "bad"])
def test_an_event_waits_for_nothing_after_it(index: str) -> None:
    said = run(f"""
event = torch.dl.Event()
select({index})
event.record()
while not event.query():
    pass
control.hold()
x.add_(1)
if {index} is bad:
    print(attempt(event.synchronize))
event.synchronize()
assert not torch.dl.current_stream().query()
control.release()
torch.dl.synchronize()
assert x.tolist() == [1, 2, 3, 4]
""")
    assert said.startswith(SAID if index == "bad" else "")


def test_the_first_error_of_a_stream_is_raised_once() -> None:
    said = run("""
select()
x.index_select(0, torch.tensor([9], device="dl"))
print(attempt(torch.dl.synchronize))
torch.dl.synchronize()
""")
    assert said.startswith(SAID)


def test_waiting_costs_nothing_where_nothing_was_checked() -> None:
    run("""
def items_of(action):
    before = control.counters().items_enqueued
    action()
    return control.counters().items_enqueued - before

x.add_(1)
assert items_of(torch.dl.synchronize) == 0
select(good)
assert items_of(torch.dl.synchronize) == 1, "the word is read"
assert items_of(torch.dl.synchronize) == 0
""")

"""Order of work, on a vendor whose streams are asynchronous and can be held.

While a stream is held nothing enqueued there runs, so each test knows what has not happened yet.
"""

from __future__ import annotations

from .processes import AFTER_BACKWARD, CONTROL, RUNS_ONCE, output

pytestmark = RUNS_ONCE

PREPARE = f"""
import torch
{CONTROL}
side = torch.dl.Stream()

def handle(stream):
    return 0 if stream == torch.dl.default_stream() else stream.native_handle
"""


def run(code: str) -> str:
    return output(PREPARE + code, DL_VENDORS="async", DL_FALLBACK="error")


def test_operators_return_before_they_have_run() -> None:
    run("""
x = torch.ones(1000, device="dl")
torch.dl.synchronize()
control.hold()
executed = control.counters().items_executed
y = (x + 1).exp().relu() * 2
assert control.counters().items_executed == executed
assert not torch.dl.current_stream().query()
event = torch.dl.Event()
assert event.query(), "never recorded"
event.record()
assert not event.query()
control.release()
event.synchronize()
assert event.query() and torch.dl.current_stream().query()
assert torch.allclose(y.cpu(), torch.full((1000,), 2.0).exp() * 2)
""")


def test_held_stream_holds_no_other() -> None:
    run("""
x = torch.ones(4, device="dl")
torch.dl.synchronize()
control.hold()
x.mul_(3)
with torch.dl.stream(side):
    y = torch.full((4,), 2.0, device="dl") * 2
    assert y.tolist() == [4] * 4
side.synchronize()
assert side.query() and not torch.dl.default_stream().query()
control.release()
assert x.tolist() == [3] * 4
""")


def test_side_stream_waits_for_what_the_default_stream_writes() -> None:
    run("""
x = torch.full((4,), 0.0, device="dl")
torch.dl.synchronize()
control.hold()
x.add_(5)
side.wait_stream(torch.dl.current_stream())
with torch.dl.stream(side):
    y = x * 2
assert not side.query()
control.release()
with torch.dl.stream(side):
    assert y.tolist() == [10] * 4
""")


def test_event_orders_two_streams_and_only_what_came_before_it() -> None:
    run("""
other = torch.dl.Stream()
x, y = torch.full((4,), 0.0, device="dl"), torch.full((4,), 0.0, device="dl")
torch.dl.synchronize()
control.hold(0, handle(side))
with torch.dl.stream(side):
    x.add_(1)
    event = side.record_event()
other.wait_event(event)
with torch.dl.stream(other):
    y.copy_(x)
    done = other.record_event()
assert not event.query() and not done.query()
control.release(0, handle(side))
done.synchronize()
assert y.tolist() == [1] * 4

control.hold(0, handle(side))
with torch.dl.stream(side):
    x.add_(1)
other.wait_event(event)
other.synchronize()
assert not side.query(), "the event was recorded before what is held now"
control.release(0, handle(side))
""")


def test_event_recorded_again_waits_for_the_later_work() -> None:
    run("""
event = torch.dl.Event()
event.record()
event.synchronize()
control.hold()
torch.ones(4, device="dl").add_(1)
event.record()
assert not event.query()
side.wait_event(event)
assert not side.query()
control.release()
side.synchronize()
assert event.query()
""")


def test_elapsed_time_is_that_between_two_finished_events() -> None:
    run("""
start, end = (torch.dl.Event(enable_timing=True) for _ in range(2))
start.record()
torch.ones(1000, device="dl").exp()
end.record()
torch.dl.synchronize()
assert start.elapsed_time(end) >= 0
assert end.elapsed_time(start) <= 0
for first, second in ((torch.dl.Event(), end), (start, torch.dl.Event(enable_timing=True))):
    try:
        first.elapsed_time(second)
    except (RuntimeError, ValueError):
        continue
    raise AssertionError("no time can be known")
""")


def test_synchronize_is_for_one_device() -> None:
    run("""
x, y = torch.ones(4, device="dl:0"), torch.ones(4, device="dl:1")
torch.dl.synchronize(0), torch.dl.synchronize(1)
control.hold(1)
y.add_(1)
x.add_(1)
torch.dl.synchronize(0)
assert not torch.dl.current_stream(1).query() and torch.dl.current_stream(0).query()
control.release(1)
torch.accelerator.synchronize("dl:1")
assert torch.dl.current_stream(1).query()
assert x.tolist() == y.tolist() == [2] * 4
""")


def test_gradients_are_computed_on_the_stream_of_the_forward_pass() -> None:
    run(
        """
x = torch.ones(4, device="dl", requires_grad=True)
side.wait_stream(torch.dl.current_stream())
with torch.dl.stream(side):
    loss = (x * 3).sum()
torch.dl.synchronize()
control.hold()
with torch.dl.stream(side):
    gradient, = torch.autograd.grad(loss, x)
side.synchronize()
control.release()
assert gradient.tolist() == [3] * 4
"""
        + AFTER_BACKWARD
    )

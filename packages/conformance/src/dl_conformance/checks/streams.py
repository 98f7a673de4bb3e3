"""Checks of the ordering of streams and events."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from diopi_proto import Tensor, Vendor
from diopi_proto.host.streams import Stream

from .check import check, offered, operator, require, require_alone

STEPS = 24
SIZE = 1 << 16


def _doubled(
    add: Callable[..., Any],
    both: list[Tensor],
    one: Tensor,
    steps: int,
    stream: Stream | None,
    *,
    wait: bool = False,
) -> Tensor:
    """Enqueue ``steps`` updates 2x + 1, alternating between two tensors.

    :param wait: synchronize after every call.
    """
    for _ in range(steps):
        source, target = both
        add(target, source, source, 1, stream=stream, synchronize=wait)
        add(target, target, one, 1, stream=stream, synchronize=wait)
        both = [target, source]
    return both[0]


def _adding(vendor: Vendor) -> tuple[Callable[..., Any], Tensor]:
    """Return an addition that is right with synchronous calls, and a tensor of ones."""
    add, one = operator(vendor, "diopiAdd"), vendor.tensor(np.ones(SIZE, np.float32))

    def right() -> bool:
        last = _doubled(add, _pair(vendor), one, STEPS, None, wait=True)
        return bool(np.all(last.numpy() == 2.0**STEPS - 1))

    require_alone(right, "diopiAdd", "with synchronous calls")
    return add, one


def _stream(vendor: Vendor, priority: int = 0) -> Stream:
    return offered("stream_create", lambda: vendor.stream(priority=priority))


def _pair(vendor: Vendor) -> list[Tensor]:
    return [vendor.tensor(np.zeros(SIZE, np.float32)) for _ in range(2)]


def _judge(tensor: Tensor, steps: int, said: str) -> None:
    want = 2.0**steps - 1
    got = tensor.numpy()
    wrong = np.flatnonzero(got != want)
    require(not wrong.size, f"{said}: {wrong.size} of {SIZE} elements are not {want}")


@check("work on a stream executes in order", unguarded=True)
def order(vendor: Vendor) -> None:
    add, one = _adding(vendor)
    for make in (lambda: None, lambda: _stream(vendor), lambda: _stream(vendor, -1)):
        stream = make()
        last = _doubled(add, _pair(vendor), one, STEPS, stream)
        if stream is not None:
            stream.synchronize()
        _judge(last, STEPS, "work on one stream")


@check("a stream waits for an event of another stream", unguarded=True)
def waits(vendor: Vendor) -> None:
    add, one = _adding(vendor)
    first, second = _stream(vendor), _stream(vendor)
    pair = _pair(vendor)
    middle = _doubled(add, pair, one, STEPS // 2, first)
    event = vendor.event()
    event.record(first)
    second.wait_event(event)
    other = next(x for x in pair if x is not middle)
    last = _doubled(add, [middle, other], one, STEPS // 2, second)
    second.synchronize()
    _judge(last, STEPS, "work that waited for an event")
    require(event.query(), "the event of completed work is not completed")


@check("synchronizing an event waits for the work before it", unguarded=True)
def event_synchronize(vendor: Vendor) -> None:
    add, one = _adding(vendor)
    stream, event = _stream(vendor), vendor.event()
    last = _doubled(add, _pair(vendor), one, STEPS, stream)
    event.record(stream)
    event.synchronize()
    require(event.query(), "an event is not completed after it was synchronized")
    require(stream.query(), "a stream is busy after its last event was synchronized")
    _judge(last, STEPS, "work before an event")


@check("an event that was never recorded is completed")
def never_recorded(vendor: Vendor) -> None:
    event = vendor.event()
    require(event.query(), "event_query reports that it is not completed")
    event.synchronize()
    _stream(vendor).wait_event(event)


@check("the time between events is monotonic", unguarded=True)
def elapsed(vendor: Vendor) -> None:
    add, one = operator(vendor, "diopiAdd"), vendor.tensor(np.ones(SIZE, np.float32))
    stream, pair = _stream(vendor), _pair(vendor)
    events = [vendor.event(timing=True) for _ in range(3)]
    for event in events:
        event.record(stream)
        _doubled(add, pair, one, 2, stream)
    stream.synchronize()
    short, long = (x.elapsed_since(events[0]) for x in events[1:])
    require(short >= 0, f"an event is {short} ms after an event that was recorded earlier")
    require(long >= short, f"{long} ms to the third event, {short} ms to the second")


@check("many streams and events can be created and destroyed")
def many(vendor: Vendor) -> None:
    for _ in range(200):
        stream, event = _stream(vendor), vendor.event()
        event.record(stream)
        stream.synchronize()
        require(event.query(), "the event of an empty stream is not completed")

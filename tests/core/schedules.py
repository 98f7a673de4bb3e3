"""Random schedules of streams, events and the allocator, in a child process.

python -m core.schedules EXAMPLES SEED [careless]

Each example is a list of steps on three streams of the asynchronous test vendor, whose streams can
be held: fill a tensor with a unique number, read it on another stream in the right order, drop it,
hold and release a stream, free cached memory. At the end every read must have seen its number.
``careless`` omits the calls that tell the allocator that another stream uses a tensor: at least one
read must then be wrong, because every run begins with the schedule STALE. Exit status 0: all reads
were right; 1: a wrong read, with the shortest schedule that hypothesis finds.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field

import torch
from hypothesis import HealthCheck, Phase, example, given, seed, settings
from hypothesis import strategies as st

from dl_core import _C
from dl_vendor_async_test.control import Control

STREAMS = 3
SIZES = (100, 1000, 400_000)  # float32 elements; the last is for a large segment

Step = tuple[str, int, int]
STEPS = st.one_of(
    st.tuples(st.just("make"), st.integers(0, STREAMS - 1), st.integers(0, len(SIZES) - 1)),
    st.tuples(st.just("read"), st.integers(0, STREAMS - 1), st.integers(0, 9)),
    st.tuples(st.just("drop"), st.just(0), st.integers(0, 9)),
    st.tuples(st.sampled_from(["hold", "release"]), st.integers(0, STREAMS - 1), st.just(0)),
    st.tuples(st.just("wait"), st.integers(0, STREAMS - 1), st.integers(0, STREAMS - 1)),
    st.tuples(st.sampled_from(["empty_cache", "synchronize"]), st.just(0), st.just(0)),
)
# A schedule in which stream 0 overwrites memory before the held stream 1 has read it, unless the
# memory is protected.
STALE: list[Step] = [
    ("make", 0, 0),
    ("hold", 1, 0),
    ("read", 1, 0),
    ("drop", 0, 0),
    ("make", 0, 0),
    ("settle", 0, 0),
]


@dataclass
class Made:
    """A tensor full of one number, with the stream and event of its initialization."""

    tensor: torch.Tensor
    number: float
    stream: torch.Stream
    written: torch.Event


@dataclass
class Run:
    """The execution of one schedule."""

    streams: list[torch.Stream]
    control: Control
    careless: bool
    made: list[Made] = field(default_factory=list)
    reads: list[tuple[torch.Tensor, float]] = field(default_factory=list)
    held: set[int] = field(default_factory=set)
    number: float = 0

    def handle(self, index: int) -> int:
        return 0 if index == 0 else int(self.streams[index].native_handle)

    def make(self, index: int, size: int) -> None:
        stream = self.streams[index]
        self.number += 1
        with torch.dl.stream(stream):
            tensor = torch.full((SIZES[size],), self.number, device="dl")
        self.made.append(Made(tensor, self.number, stream, stream.record_event()))

    def read(self, index: int, which: int) -> None:
        if not self.made:
            return
        made = self.made[which % len(self.made)]
        stream = self.streams[index]
        stream.wait_event(made.written)
        with torch.dl.stream(stream):
            self.reads.append((made.tensor.clone(), made.number))
        if stream != made.stream and not self.careless:
            made.tensor.record_stream(stream)

    def drop(self, _: int, which: int) -> None:
        if self.made:
            self.made.pop(which % len(self.made))

    def hold(self, index: int, _: int) -> None:
        if index not in self.held:
            self.held.add(index)
            self.control.hold(0, self.handle(index))

    def release(self, index: int, _: int) -> None:
        if index in self.held:
            self.held.remove(index)
            self.control.release(0, self.handle(index))

    def wait(self, index: int, other: int) -> None:
        self.streams[index].wait_stream(self.streams[other])

    def settle(self, index: int, _: int) -> None:
        self.streams[index].synchronize()

    def empty_cache(self, *_: int) -> None:
        self.release_all()
        torch.dl.empty_cache()

    def synchronize(self, *_: int) -> None:
        self.release_all()
        torch.dl.synchronize()

    def release_all(self) -> None:
        for index in tuple(self.held):
            self.release(index, 0)

    def finish(self) -> None:
        self.synchronize()
        for tensor, number in self.reads:
            low, high = torch.aminmax(tensor.cpu())
            assert low == high == number, f"{number:g} was read as {low:g} to {high:g}"


def main(examples: int, first: int, careless: bool) -> None:
    streams = [torch.dl.default_stream(), *(torch.dl.Stream() for _ in range(STREAMS - 1))]
    control = Control(_C.vendor_handle(0))

    @seed(first)
    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        phases=[Phase.explicit, Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )
    @example(STALE)
    @given(st.lists(STEPS, max_size=25))
    def schedule(steps: list[Step]) -> None:
        run = Run(streams, control, careless)
        try:
            for name, *arguments in steps:
                getattr(run, name)(*arguments)
        finally:
            run.release_all()
        run.finish()

    schedule()


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:] == ["careless"])

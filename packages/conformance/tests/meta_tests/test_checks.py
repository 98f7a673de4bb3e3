"""Checks of what is no operator find faults: each of these is caught by the check that is named."""

from __future__ import annotations

import itertools
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from diopi_proto import Generator, Vendor
from dl_conformance.checks.check import checks, run_check
from dl_conformance.target import of_vendor


@pytest.fixture(scope="module")
def vendor() -> Iterator[Vendor]:
    with of_vendor("cpu")[0].load() as loaded:
        yield loaded


class Other:
    """Something, but for what is replaced."""

    def __init__(self, real: Any, **replaced: Any) -> None:
        self._real, self._replaced = real, replaced

    def __getattr__(self, name: str) -> Any:
        return self._replaced[name] if name in self._replaced else getattr(self._real, name)


class Operators:
    """Operators, one of which has a fault."""

    def __init__(self, vendor: Vendor, name: str, fault: Callable[..., Any]) -> None:
        self.vendor, self.name, self.fault = vendor, name, fault

    def __getitem__(self, name: str) -> Callable[..., Any]:
        right = self.vendor.op[name]
        if name != self.name:
            return right
        return lambda *given, **named: self.fault(right, *given, **named)


def faulty(vendor: Vendor, name: str, fault: Callable[..., Any]) -> Any:
    return Other(vendor, op=Operators(vendor, name, fault))


def no_name(vendor: Vendor) -> Any:
    return Other(vendor, properties=lambda device: replace(vendor.properties(device), name=" "))


def misaligned(vendor: Vendor) -> Any:
    def empty(shape: tuple[int], dtype: str) -> Any:
        return vendor.empty((shape[0] + 1,), dtype).as_strided(shape, (1,), 1)

    return Other(vendor, empty=empty)


def changed_byte(vendor: Vendor) -> Any:
    def tensor(values: np.ndarray) -> Any:
        changed = values.copy()
        changed[-1] ^= values.size > 4096
        return vendor.tensor(changed)

    return Other(vendor, tensor=tensor)


def overlapping(vendor: Vendor) -> Any:
    pool = vendor.tensor(np.zeros(1 << 21, np.uint8))

    def tensor(values: np.ndarray) -> Any:
        view = pool.as_strided(values.shape, (1,), 0)
        view.copy_from(values)
        return view

    return Other(vendor, tensor=tensor)


def half_copied(vendor: Vendor) -> Any:
    def copy(right: Any, source: Any, target: Any) -> None:
        half = (source.size // 2,)
        right(source.as_strided(half, (1,), 0), target.as_strided(half, (1,), 0))

    return faulty(vendor, "diopiCopyInp", copy)


def dropped_work(vendor: Vendor) -> Any:
    calls = itertools.count(1)

    def add(right: Any, *given: Any, **named: Any) -> None:
        if next(calls) % 10:
            right(*given, **named)

    return faulty(vendor, "diopiAdd", add)


def never_finished(vendor: Vendor) -> Any:
    return Other(vendor, event=lambda **given: Other(vendor.event(**given), query=lambda: False))


def backward_clock(vendor: Vendor) -> Any:
    def event(**given: Any) -> Any:
        real = vendor.event(**given)
        return Other(real, _real=real, elapsed_since=lambda start: -1.0)

    return Other(vendor, event=event)


def forgetful_offset(vendor: Vendor) -> Any:
    def draw(right: Any, out: Any, low: Any, high: Any, state: Generator) -> None:
        offset = state.offset
        right(out, low, high, state)
        state.offset = offset

    return faulty(vendor, "diopiRandomInp", draw)


def hidden_state(vendor: Vendor) -> Any:
    calls = itertools.count(1)

    def draw(right: Any, out: Any, low: Any, high: Any, state: Generator) -> None:
        right(out, low, high, Generator(seed=next(calls)))
        state.offset += 4

    return faulty(vendor, "diopiRandomInp", draw)


def ignored_seed(vendor: Vendor) -> Any:
    def draw(right: Any, out: Any, low: Any, high: Any, state: Generator) -> None:
        own = Generator(seed=1, offset=state.offset)
        right(out, low, high, own)
        state.offset = own.offset

    return faulty(vendor, "diopiRandomInp", draw)


def shared_between_threads(vendor: Vendor) -> Any:
    first: list[np.ndarray] = []

    def multiply(right: Any, out: Any, a: Any, b: Any, **named: Any) -> None:
        first.append(a.numpy())
        right(out, vendor.tensor(first[0]), b, **named)

    return faulty(vendor, "diopiMul", multiply)


def lost_blocks(vendor: Vendor) -> Any:
    made = itertools.count()

    def tensor(values: np.ndarray) -> Any:
        next(made)
        return vendor.tensor(values)

    def info(device: int) -> tuple[int, int]:
        blocks = int(repr(made).removeprefix("count(").removesuffix(")"))
        return (1 << 40) - (blocks << 23), 1 << 40

    return Other(vendor, tensor=tensor, memory_info=info)


def kernels_with(vendor: Vendor, **replaced: Any) -> Any:
    return Other(vendor, kernels=Other(vendor.kernels, **replaced))


def half_launched(vendor: Vendor) -> Any:
    def load(code: Any) -> Any:
        function = vendor.kernels.load(code).function("doubled")
        return Other(
            None,
            function=lambda name: (
                lambda data, count, grid, block: function(data, count, grid=grid // 2, block=block)
            ),
        )

    return kernels_with(vendor, load=load)


def anything_compiles(vendor: Vendor) -> Any:
    return kernels_with(vendor, compile=lambda source, **given: None)


def anything_loads(vendor: Vendor) -> Any:
    return kernels_with(vendor, load=lambda code: None)


def bottomless(vendor: Vendor) -> Any:
    return Other(vendor, empty=lambda shape, dtype: vendor.empty((1,), dtype))


FAULTS: dict[str, tuple[str, Callable[[Vendor], Any]]] = {
    "absent driver": (
        "a driver and a device are there",
        lambda vendor: Other(vendor, present=False),
    ),
    "nameless device": ("every device has a name, memory and dtypes", no_name),
    "more free memory than there is": (
        "free memory is at most all memory",
        lambda vendor: Other(vendor, memory_info=lambda device: (5, 3)),
    ),
    "misaligned blocks": ("blocks are aligned to 64 bytes", misaligned),
    "changed byte": ("elements survive the way to the device and back", changed_byte),
    "overlapping blocks": ("blocks do not overlap", overlapping),
    "half a copy": ("copies within the device are exact", half_copied),
    "bottomless memory": (
        "more memory than there is is refused, and the device still works",
        bottomless,
    ),
    "lost blocks": ("memory that is freed can be had again", lost_blocks),
    "dropped work": ("work on a stream happens in its order", dropped_work),
    "dropped work behind an event": ("a stream waits for the event of another", dropped_work),
    "event that never finishes": (
        "waiting for an event waits for the work before it",
        never_finished,
    ),
    "new event that is busy": ("an event that was never recorded is finished", never_finished),
    "backward clock": ("the time between events grows", backward_clock),
    "forgetful offset": (
        "a generator goes on where it was, and its state is all of it",
        forgetful_offset,
    ),
    "hidden state": ("a generator goes on where it was, and its state is all of it", hidden_state),
    "ignored seed": ("a generator goes on where it was, and its state is all of it", ignored_seed),
    "threads that share": ("threads do not disturb each other", shared_between_threads),
    "half a launch": ("a kernel runs for every element", half_launched),
    "a compiler that takes anything": (
        "source that does not compile is refused, with the compiler's words",
        anything_compiles,
    ),
    "a loader that takes anything": ("bytes that are no code are not loaded", anything_loads),
    "streams that share": (
        "calls on streams of their own do not disturb each other",
        shared_between_threads,
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_fault_is_caught(vendor: Vendor, fault: str) -> None:
    words, seeded = FAULTS[fault]
    outcome = run_check(seeded(vendor), f"runtime[{words}]")
    assert outcome.status == "failed", outcome
    assert outcome.cause == "wrong behaviour", outcome


@pytest.mark.parametrize("name", checks())
def test_without_fault_all_is_right(vendor: Vendor, name: str) -> None:
    compiles = any(word in name for word in ("compile", "kernel", "code"))
    if compiles and not any(map(shutil.which, ("c++", "g++", "clang++"))):
        pytest.skip("there is no C++ compiler")
    assert run_check(vendor, name).status == "passed"

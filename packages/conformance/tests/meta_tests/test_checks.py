"""Runtime checks find faults: each seeded fault is caught by the named check."""

from __future__ import annotations

import itertools
import shutil
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from diopi_proto import Generator, NotSupportedError, OperatorError, Vendor, VendorError
from diopi_proto.host.cabi import constants
from dl_conformance.checks.check import checks, run_check
from dl_conformance.target import of_vendor


@pytest.fixture(scope="module")
def vendor() -> Iterator[Vendor]:
    with of_vendor("cpu")[0].load() as loaded:
        yield loaded


class Other:
    """Proxy of an object with replaced attributes."""

    def __init__(self, real: Any, **replaced: Any) -> None:
        self._real, self._replaced = real, replaced

    def __getattr__(self, name: str) -> Any:
        return self._replaced[name] if name in self._replaced else getattr(self._real, name)


class Operators:
    """Operators with one faulty one."""

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


def copies_of_floats(vendor: Vendor, copy: Callable[..., None]) -> Any:
    """Return a vendor whose diopiCopyInp declines all dtypes but float32."""

    def decline(right: Any, source: Any, target: Any) -> None:
        if source.numpy().dtype != np.float32:
            code = constants.diopiDtypeNotSupported
            raise OperatorError("[diopiCopyInp] no", code=code, operator="", vendor="cpu")
        copy(right, source, target)

    return faulty(vendor, "diopiCopyInp", decline)


def half_of_floats_copied(vendor: Vendor) -> Any:
    def copy(right: Any, source: Any, target: Any) -> None:
        half_copied(vendor).op["diopiCopyInp"](source, target)

    return copies_of_floats(vendor, copy)


def half_of_bytes_copied(vendor: Vendor) -> Any:
    def call(slot: str, *given: Any) -> None:
        if slot == "memory_copy" and given[4] == constants.DL_COPY_DEVICE_TO_DEVICE:
            given = (*given[:3], given[3] // 2, *given[4:])
        vendor.slots.call(slot, *given)

    return with_calls(vendor, call)


def dropped_work(vendor: Vendor) -> Any:
    calls = itertools.count(1)

    def add(right: Any, *given: Any, **named: Any) -> None:
        if named["synchronize"] or next(calls) % 10:
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
        if threading.current_thread() is not threading.main_thread():
            first.append(a.numpy())
            a = vendor.tensor(first[0])
        right(out, a, b, **named)

    return faulty(vendor, "diopiMul", multiply)


def wrong_on_streams(vendor: Vendor) -> Any:
    def multiply(right: Any, out: Any, a: Any, b: Any, **named: Any) -> None:
        right(out, a, b if named["stream"] is None else out, **named)

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


def refusal(slot: str, message: str) -> VendorError:
    """Return the error of a host for a status with a message."""
    text = f"[{slot}] {message} (vendor cpu)"
    return VendorError(text, code=constants.DL_INVALID_ARGUMENT, operation=slot, vendor="cpu")


def with_calls(vendor: Vendor, call: Callable[..., None]) -> Any:
    return Other(vendor, slots=Other(vendor.slots, call=call))


def refused_silently(vendor: Vendor) -> Any:
    def call(slot: str, *_: Any) -> None:
        raise refusal(slot, "it failed with code 2 and gave no reason")

    return with_calls(vendor, call)


def lasting_error(vendor: Vendor) -> Any:
    def empty(*_: Any) -> Any:
        raise refusal("memory_allocate", "the device does not exist")

    return Other(vendor, empty=empty)


FAULTS: dict[str, tuple[str, Callable[[Vendor], Any]]] = {
    "absent driver": (
        "a driver and a device are present",
        lambda vendor: Other(vendor, present=False),
    ),
    "nameless device": ("every device has a name, memory and dtypes", no_name),
    "more free than total memory": (
        "free memory is at most total memory",
        lambda vendor: Other(vendor, memory_info=lambda device: (5, 3)),
    ),
    "misaligned blocks": ("blocks are aligned to 64 bytes", misaligned),
    "changed byte": ("elements survive a round trip to the device", changed_byte),
    "overlapping blocks": ("blocks do not overlap", overlapping),
    "half a copy": ("copies within the device are exact", half_copied),
    "half a copy of floats": ("copies within the device are exact", half_of_floats_copied),
    "half a copy of bytes": ("copies within the device are exact", half_of_bytes_copied),
    "bottomless memory": (
        "an allocation beyond the memory is refused, and the device still works",
        bottomless,
    ),
    "lost blocks": ("freed memory can be allocated again", lost_blocks),
    "dropped work": ("work on a stream executes in order", dropped_work),
    "dropped work behind an event": ("a stream waits for an event of another stream", dropped_work),
    "event that never finishes": (
        "synchronizing an event waits for the work before it",
        never_finished,
    ),
    "new event that is busy": ("an event that was never recorded is completed", never_finished),
    "backward clock": ("the time between events is monotonic", backward_clock),
    "forgetful offset": (
        "a generator resumes from seed and offset alone",
        forgetful_offset,
    ),
    "hidden state": ("a generator resumes from seed and offset alone", hidden_state),
    "ignored seed": ("a generator resumes from seed and offset alone", ignored_seed),
    "threads that share": ("threads do not interfere", shared_between_threads),
    "half a launch": ("a kernel runs for every element", half_launched),
    "a compiler that takes anything": (
        "source that does not compile is refused with the compiler's message",
        anything_compiles,
    ),
    "a loader that takes anything": ("invalid code is not loaded", anything_loads),
    "streams that share": (
        "calls on separate streams do not interfere",
        shared_between_threads,
    ),
    "devices without end": (
        "a device that does not exist is refused with a reason",
        lambda vendor: with_calls(vendor, lambda *_: None),
    ),
    "refusal without a message": (
        "a device that does not exist is refused with a reason",
        refused_silently,
    ),
    "error that lasts": ("an error is reported to the call that failed alone", lasting_error),
    "devices of the first instance": (
        "instances of several hosts do not interfere",
        lambda vendor: Other(vendor, device_count=vendor.device_count + 1),
    ),
    "a stream that is wrong alone": (
        "calls on separate streams do not interfere",
        wrong_on_streams,
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_fault_is_caught(vendor: Vendor, fault: str) -> None:
    words, seeded = FAULTS[fault]
    outcome = run_check(seeded(vendor), f"runtime[{words}]")
    assert outcome.status == "failed", outcome
    assert outcome.cause == "wrong behaviour", outcome


def wrong_everywhere(vendor: Vendor, name: str) -> Any:
    def computed(right: Any, out: Any, *given: Any, **named: Any) -> None:
        right(out, *given, **named)
        out.copy_from(out.numpy() + 1)

    return faulty(vendor, name, computed)


def failing(vendor: Vendor, code: int) -> Any:
    def computed(right: Any, *given: Any, **named: Any) -> None:
        raise OperatorError("[diopiAdd] failed", code=code, operator="diopiAdd", vendor="cpu")

    return faulty(vendor, "diopiAdd", computed)


def unoffered(vendor: Vendor, **slots: str) -> Any:
    """Return a vendor without slots, given by the functions that use them."""

    def raise_for(slot: str) -> Callable[..., Any]:
        def ask(*given: Any, **named: Any) -> Any:
            raise NotSupportedError(f"[{slot}] no", code=1, operation=slot, vendor="cpu")

        return ask

    return Other(vendor, **{name: raise_for(slot) for name, slot in slots.items()})


STREAMS = (
    "calls on separate streams do not interfere",
    "work on a stream executes in order",
    "a stream waits for an event of another stream",
    "synchronizing an event waits for the work before it",
    "an event that was never recorded is completed",
    "the time between events is monotonic",
    "many streams and events can be created and destroyed",
)
LEFT: dict[str, tuple[tuple[str, ...], Callable[[Vendor], Any], str]] = {
    "a wrong Mul": (
        ("threads do not interfere",),
        lambda vendor: wrong_everywhere(vendor, "diopiMul"),
        "diopiMul, diopiAdd: wrong on one thread too",
    ),
    "a wrong Mul and streams": (
        STREAMS[:1],
        lambda vendor: wrong_everywhere(vendor, "diopiMul"),
        "diopiMul: wrong on one thread, on the default stream, too",
    ),
    "a wrong Add": (
        STREAMS[1:4],
        lambda vendor: wrong_everywhere(vendor, "diopiAdd"),
        "diopiAdd: wrong with synchronous calls too",
    ),
    "an Add that fails": (
        ("threads do not interfere", *STREAMS[1:4]),
        lambda vendor: failing(vendor, constants.diopiErrorOccurred),
        "an error ",
    ),
    "an Add that declines": (
        ("thousands of calls leak no memory", "the time between events is monotonic"),
        lambda vendor: failing(vendor, constants.diopiDtypeNotSupported),
        "an operator that this check uses is declined",
    ),
    "no memory_info": (
        ("free memory is at most total memory", "freed memory can be allocated again"),
        lambda vendor: unoffered(vendor, memory_info="memory_info"),
        "memory_info is optional, and the library does not provide it",
    ),
    "no streams": (
        STREAMS,
        lambda vendor: unoffered(vendor, stream="stream_create"),
        "stream_create is optional, and the library does not provide it",
    ),
    "device_properties that declines": (
        ("every device has a name, memory and dtypes",),
        lambda vendor: unoffered(vendor, properties="device_properties"),
        "device_properties is optional, and the library does not provide it",
    ),
}


@pytest.mark.parametrize("what", LEFT)
def test_an_inconclusive_check_is_skipped_with_a_reason(vendor: Vendor, what: str) -> None:
    names, made, said = LEFT[what]
    for words in names:
        outcome = run_check(made(vendor), f"runtime[{words}]")
        assert outcome.status == "skipped", outcome
        assert said in outcome.cause, outcome


def test_required_slot_that_is_missing_fails(vendor: Vendor) -> None:
    without = unoffered(vendor, event="event_create")
    outcome = run_check(without, "runtime[an event that was never recorded is completed]")
    assert (outcome.status, outcome.cause) == ("failed", "NotSupportedError")


def test_memory_runs_out_without_memory_info_too(vendor: Vendor) -> None:
    name = "runtime[an allocation beyond the memory is refused, and the device still works]"
    without = unoffered(vendor, memory_info="memory_info")
    assert run_check(without, name).status == "passed"
    assert run_check(Other(bottomless(vendor), memory_info=without.memory_info), name).status == (
        "failed"
    )


@pytest.mark.parametrize("name", checks())
def test_without_fault_all_is_right(vendor: Vendor, name: str) -> None:
    compiles = any(word in name for word in ("compile", "kernel", "code"))
    if compiles and not any(map(shutil.which, ("c++", "g++", "clang++"))):
        pytest.skip("there is no C++ compiler")
    two_devices = ("of the device that the call names", "on the device of their context")
    if vendor.device_count < 2 and any(words in name for words in two_devices):
        pytest.skip("the reference vendor has one device")
    assert run_check(vendor, name).status == "passed"


def test_copies_of_a_chip_of_float32_are_checked(vendor: Vendor) -> None:
    chip = copies_of_floats(vendor, lambda right, source, target: right(source, target))
    outcome = run_check(chip, "runtime[copies within the device are exact]")
    assert outcome.status == "passed", outcome

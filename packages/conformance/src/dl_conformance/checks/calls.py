"""Calls of operators: threads, generators, and what they leave behind."""

from __future__ import annotations

import resource
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from diopi_proto import Generator, Tensor, Vendor
from diopi_proto.host.streams import Stream
from dl_conformance.inputs import uniform

from .check import SkipError, check, offered, operator, require, require_alone

THREADS = 8
ROUNDS = 60
ALONE = 8
"""Rounds of each on one thread, before threads run at once."""
RANDOM = ("diopiRandomInp", "diopiUniformInp", "diopiNormal")
KEPT = 64 << 10
"""Kilobytes that the process may keep; thousands of calls that leak one output are more."""


def _stays_right(
    vendor: Vendor,
    key: str,
    count: int,
    calls: Callable[[Tensor, Tensor], None],
    formula: Callable[[np.ndarray], np.ndarray],
    rounds: int,
) -> bool:
    """Whether calls, again and again, write what a formula gives of numbers of their own."""
    values = uniform(key, count, 0.5, 1.5).astype(np.float32)
    a, out, want = vendor.tensor(values), vendor.empty((count,), "float32"), formula(values)
    for _ in range(rounds):
        calls(out, a)
        if not np.allclose(out.numpy(), want, rtol=1e-6, atol=0):
            return False
    return True


def _all_at_once(right: Callable[[int], bool], what: str) -> None:
    """Require of each thread what is right by itself."""
    with ThreadPoolExecutor(THREADS) as pool:
        for number, is_right in enumerate(pool.map(right, range(THREADS))):
            require(
                is_right,
                f"{what} {number} of {THREADS} got other numbers than one {what} alone gets",
            )


@check("threads do not disturb each other")
def threads(vendor: Vendor) -> None:
    multiply, add = operator(vendor, "diopiMul"), operator(vendor, "diopiAdd")

    def calls(out: Tensor, a: Tensor) -> None:
        multiply(out, a, a)
        add(out, out, a, 1)

    def right(number: int, rounds: int = ROUNDS) -> bool:
        return _stays_right(vendor, f"thread {number}", 4099, calls, lambda x: x * x + x, rounds)

    require_alone(
        lambda: all(right(number, ALONE) for number in range(THREADS)),
        "diopiMul, diopiAdd",
        "on one thread",
    )
    _all_at_once(right, "thread")


@check("calls on streams of their own do not disturb each other")
def streams(vendor: Vendor) -> None:
    multiply = operator(vendor, "diopiMul")
    offered("stream_create", vendor.stream)

    def right(number: int, rounds: int = ROUNDS, stream: Stream | None = None) -> bool:
        def calls(out: Tensor, a: Tensor) -> None:
            multiply(out, a, a, stream=stream)

        return _stays_right(vendor, f"stream {number}", 5000, calls, lambda x: x * x, rounds)

    require_alone(
        lambda: all(right(number, ALONE) for number in range(THREADS)),
        "diopiMul",
        "on one thread, on the default stream,",
    )
    require(
        right(0, ALONE, vendor.stream()),
        "diopiMul is wrong on one stream alone, and right on the default stream",
    )
    _all_at_once(lambda number: right(number, stream=vendor.stream()), "stream")


@check("a generator goes on where it was, and its state is all of it")
def generator(vendor: Vendor) -> None:
    name = next((x for x in RANDOM if vendor.operators[x]), None)
    if name is None:
        raise SkipError(f"none of {', '.join(RANDOM)} is implemented")
    called = vendor.op[name]
    arguments = {
        "diopiRandomInp": (0, None),
        "diopiUniformInp": (0.0, 1.0),
        "diopiNormal": (0.0, 1.0),
    }[name]

    def drawn(state: Generator) -> np.ndarray:
        out = vendor.tensor(np.full(1000, -1, np.float32))
        called(out, *arguments, state)
        return out.numpy()

    state = Generator(seed=11, offset=0)
    first, second = drawn(state), drawn(state)
    again = Generator(seed=11, offset=0)
    require(np.array_equal(first, drawn(again)), f"{name}: the same state gives other numbers")
    require(not np.array_equal(first, second), f"{name}: the offset of the generator stays")
    between = Generator(seed=11, offset=again.offset)
    require(
        np.array_equal(second, drawn(between)),
        f"{name}: something besides seed and offset decides what is drawn",
    )
    require(not np.array_equal(first, drawn(Generator(seed=12))), f"{name}: the seed is ignored")


@check("thousands of calls leave no memory behind")
def no_leak(vendor: Vendor) -> None:
    add = operator(vendor, "diopiAdd")
    a = vendor.tensor(np.ones(1 << 16, np.float32))
    out = vendor.empty((1 << 16,), "float32")

    def repeat(count: int) -> None:
        for _ in range(count):
            add(out, a, a, 1)

    repeat(200)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    repeat(2000)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    require(grown < KEPT, f"the process grew by {grown} kB in 2000 calls of diopiAdd")

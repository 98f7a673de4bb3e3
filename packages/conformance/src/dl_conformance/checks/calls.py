"""Checks of operator calls: threads, generators and memory leaks."""

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
"""Rounds of each call on one thread, before threads run concurrently."""
RANDOM = ("diopiRandomInp", "diopiUniformInp", "diopiNormal")
ALLOWED_GROWTH = 64 << 10
"""Allowed growth of the process in KiB; thousands of calls that leak one output exceed it."""


def _stays_right(
    vendor: Vendor,
    key: str,
    count: int,
    calls: Callable[[Tensor, Tensor], None],
    formula: Callable[[np.ndarray], np.ndarray],
    rounds: int,
) -> bool:
    """Return True if repeated calls on private inputs always match a formula."""
    values = uniform(key, count, 0.5, 1.5).astype(np.float32)
    a, out, want = vendor.tensor(values), vendor.empty((count,), "float32"), formula(values)
    for _ in range(rounds):
        calls(out, a)
        if not np.allclose(out.numpy(), want, rtol=1e-6, atol=0):
            return False
    return True


def _all_at_once(right: Callable[[int], bool], what: str) -> None:
    """Require that each thread is still right when all run concurrently."""
    with ThreadPoolExecutor(THREADS) as pool:
        for number, is_right in enumerate(pool.map(right, range(THREADS))):
            require(
                is_right,
                f"{what} {number} of {THREADS} got different results than a single {what}",
            )


@check("threads do not interfere", unguarded=True)
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


@check("calls on separate streams do not interfere", unguarded=True)
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


@check("a generator resumes from seed and offset alone")
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

    def draw(state: Generator) -> np.ndarray:
        out = vendor.tensor(np.full(1000, -1, np.float32))
        called(out, *arguments, state)
        return out.numpy()

    state = Generator(seed=11, offset=0)
    first, second = draw(state), draw(state)
    again = Generator(seed=11, offset=0)
    require(np.array_equal(first, draw(again)), f"{name}: the same state gives different numbers")
    require(not np.array_equal(first, second), f"{name}: the generator's offset does not advance")
    between = Generator(seed=11, offset=again.offset)
    require(
        np.array_equal(second, draw(between)),
        f"{name}: the result depends on more than seed and offset",
    )
    require(not np.array_equal(first, draw(Generator(seed=12))), f"{name}: the seed is ignored")


@check("thousands of calls leak no memory")
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
    require(grown < ALLOWED_GROWTH, f"the process grew by {grown} KiB in 2000 calls of diopiAdd")

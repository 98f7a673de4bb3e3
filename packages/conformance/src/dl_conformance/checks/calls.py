"""Calls of operators: threads, generators, and what they leave behind."""

from __future__ import annotations

import resource
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from diopi_proto import Generator, Vendor
from dl_conformance.inputs import uniform

from .check import SkipError, check, operator, require

THREADS = 8
ROUNDS = 60
RANDOM = ("diopiRandomInp", "diopiUniformInp", "diopiNormal")
KEPT = 64 << 10
"""Kilobytes that the process may keep; thousands of calls that leak one output are more."""


@check("threads do not disturb each other")
def threads(vendor: Vendor) -> None:
    multiply, add = operator(vendor, "diopiMul"), operator(vendor, "diopiAdd")

    def work(number: int) -> str:
        values = uniform(f"thread {number}", 4099, 0.5, 1.5).astype(np.float32)
        a, out = vendor.tensor(values), vendor.empty((values.size,), "float32")
        for _ in range(ROUNDS):
            multiply(out, a, a)
            add(out, out, a, 1)
            want = values * values + values
            if not np.allclose(out.numpy(), want, rtol=1e-6, atol=0):
                return f"thread {number} of {THREADS} got the numbers of no call of its own"
        return ""

    with ThreadPoolExecutor(THREADS) as pool:
        for said in pool.map(work, range(THREADS)):
            require(not said, said)


@check("calls on streams of their own do not disturb each other")
def streams(vendor: Vendor) -> None:
    multiply = operator(vendor, "diopiMul")

    def work(number: int) -> str:
        stream = vendor.stream()
        values = uniform(f"stream {number}", 5000, 0.5, 1.5).astype(np.float32)
        a, out = vendor.tensor(values), vendor.empty((values.size,), "float32")
        for _ in range(ROUNDS):
            multiply(out, a, a, stream=stream)
            if not np.allclose(out.numpy(), values * values, rtol=1e-6, atol=0):
                return f"stream {number} of {THREADS} has the numbers of no call of its own"
        return ""

    with ThreadPoolExecutor(THREADS) as pool:
        for said in pool.map(work, range(THREADS)):
            require(not said, said)


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

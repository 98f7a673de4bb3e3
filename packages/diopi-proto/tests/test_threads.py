"""Several vendors, several instances and several threads at once."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from pathlib import Path
from threading import Barrier
from typing import Any

import numpy as np
import pytest

from diopi_proto import ArgumentError, Generator, OperatorError, Vendor, load_vendor
from diopi_proto.host import handle_ops
from diopi_proto.host.hosttable import HostTable

Compile = Callable[..., Path]
THREADS = 4


def test_two_libraries_share_nothing(build: Compile) -> None:
    first = build("vendor.cpp", '-DFIXTURE_NAME="first"')
    second = build("vendor.cpp", '-DFIXTURE_NAME="second"')
    with load_vendor(first) as a, load_vendor(second) as b:
        assert (a.name, b.name) == ("first", "second")
        x, y = a.empty((1,)), b.empty((1,))
        with pytest.raises(OperatorError, match="along 1"):
            a.op.Softmax(x, x, 1)
        with pytest.raises(OperatorError, match=r"no reason given.*vendor second"):
            b.op.Tanh(y, y)


def test_instances_of_one_library_are_separate(library: Path, counters: type) -> None:
    with load_vendor(library) as a, load_vendor(library) as b:
        assert counters(library).instances == 2
        tensor = a.empty((1,))
        with pytest.raises(ArgumentError, match="this instance"):
            b.op.Fill(tensor, 1)
        a.close()
        other = b.empty((1,))
        b.op.Fill(other, 2)
        assert other.numpy().tolist() == [2]


def test_threads_share_a_vendor(vendor: Vendor) -> None:
    start = Barrier(THREADS)

    def work(number: int) -> None:
        start.wait()
        for round_ in range(100):
            out = vendor.empty((50,))
            values = vendor.tensor(np.full(50, number, np.float32))
            vendor.op.Add(out, values, values, round_)
            assert out.numpy().tolist() == [number * (1 + round_)] * 50
            found = vendor.op.Nonzero(values)
            assert found.shape == (50 if number else 0, 1)
            with pytest.raises(OperatorError, match=f"along {number} "):
                vendor.op.Softmax(out, out, number)

    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(work, range(THREADS)))
    assert not handle_ops.running


def test_a_shared_generator_gives_every_number_once(vendor: Vendor) -> None:
    generator = Generator(seed=0)
    start = Barrier(THREADS)

    def draw(number: int) -> list[float]:
        start.wait()
        drawn = []
        for _ in range(50):
            tensor = vendor.empty((3,))
            vendor.op.UniformInp(tensor, 0.0, 1.0, generator)
            drawn += tensor.numpy().tolist()
        return drawn

    with ThreadPoolExecutor(THREADS) as pool:
        drawn = sorted(chain.from_iterable(pool.map(draw, range(THREADS))))
    assert drawn == list(range(THREADS * 50 * 3))
    assert generator.offset == THREADS * 50 * 3


def test_a_call_holds_its_generator(library: Path) -> None:
    generator = Generator()
    taken: list[bool] = []

    def take() -> bool:
        got = generator.lock.acquire(blocking=False)
        if got:
            generator.lock.release()
        return got

    class Watching(HostTable):
        def _write_log(self, host: Any, level: int, message: Any) -> None:
            with ThreadPoolExecutor(1) as pool:
                taken.append(pool.submit(take).result())

    with load_vendor(library, host=Watching()) as vendor:
        taken.clear()
        vendor.op.UniformInp(vendor.empty((1,)), 0.0, 1.0, generator)
        assert taken == [False]
        assert take()


def test_vendors_are_opened_and_closed_by_many_threads(library: Path, counters: type) -> None:
    start = Barrier(THREADS)

    def work(number: int) -> None:
        start.wait()
        for _ in range(20):
            with load_vendor(library) as vendor:
                tensor = vendor.empty((2,), device=number % 2)
                vendor.op.Fill(tensor, number)
                assert tensor.numpy().tolist() == [number, number]

    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(work, range(THREADS)))
    count = counters(library)
    assert (count.instances, count.blocks) == (0, 0)

"""Tests of constant weights: what the vendor prepacks, who reads it, and when it is freed."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
import pytest

import support
from diopi_proto import Tensor, Vendor, VendorError, load_vendor

RNG = np.random.default_rng(5)


@pytest.fixture
def vendor() -> Iterator[Vendor]:
    with load_vendor(support.tested_library()) as loaded:
        yield loaded
        loaded.constants.use(False)


def random_tensor(vendor: Vendor, *shape: int) -> Tensor:
    return vendor.tensor(RNG.normal(size=shape).astype(np.float32))


class Product:
    """Rows times a dense matrix, with more rows than a skinny product."""

    def __init__(self, vendor: Vendor, rows: int = 40) -> None:
        self.vendor, self.x, self.weight = (
            vendor,
            random_tensor(vendor, rows, 96),
            random_tensor(vendor, 96, 64),
        )
        self.shape = (rows, 64)

    def __call__(self) -> np.ndarray:
        out = self.vendor.empty(self.shape, "float32")
        self.vendor.op.Mm(out, self.x, self.weight)
        return out.numpy()

    def want(self) -> np.ndarray:
        return self.x.numpy().astype(np.float64) @ self.weight.numpy()


class Transposed(Product):
    """The same with the weight on the left, and dense columns of the result."""

    def __call__(self) -> np.ndarray:
        rows = self.vendor.empty(self.shape, "float32")
        out = rows.as_strided((64, 40), (1, 64))
        self.vendor.op.Mm(
            out, self.weight.as_strided((64, 96), (1, 64)), self.x.as_strided((96, 40), (1, 96))
        )
        return rows.numpy()


def images(dense: Tensor) -> Tensor:
    n, height, width, channels = dense.shape
    steps = (height * width * channels, 1, width * channels, channels)
    return dense.as_strided((n, channels, height, width), steps)


class Convolution:
    """A convolution of channels-last images."""

    def __init__(self, vendor: Vendor, taps: int) -> None:
        self.vendor, self.taps = vendor, taps
        self.x, self.weight = (
            images(random_tensor(vendor, 2, 12, 12, 16)),
            random_tensor(vendor, 32, 16, taps, taps),
        )

    def __call__(self) -> np.ndarray:
        out = images(self.vendor.empty((2, 12, 12, 32), "float32"))
        padding = [self.taps // 2] * 2
        self.vendor.op.Convolution2d(out, self.x, self.weight, None, [1, 1], padding, [1, 1], 1)
        return out.numpy()

    def want(self) -> np.ndarray:
        x, weight = self.x.numpy().astype(np.float64), self.weight.numpy().astype(np.float64)
        edge = self.taps // 2
        wide = np.pad(x, ((0, 0), (0, 0), (edge, edge), (edge, edge)))
        return sum(
            np.einsum("nchw,oc->nohw", wide[:, :, i : i + 12, j : j + 12], weight[:, :, i, j])
            for i in range(self.taps)
            for j in range(self.taps)
        )


CALLS: dict[str, Callable[[Vendor], Product | Convolution]] = {
    "product": Product,
    "transposed": Transposed,
    "convolution": lambda vendor: Convolution(vendor, 3),
    "pointwise convolution": lambda vendor: Convolution(vendor, 1),
}


def declared(vendor: Vendor, weight: Tensor) -> tuple[int, int]:
    return weight.address, weight.numpy().nbytes


@contextmanager
def constant(vendor: Vendor, weight: Tensor) -> Iterator[None]:
    """Context manager in which this thread uses a constant weight."""
    place = declared(vendor, weight)
    vendor.constants.declare(*place)
    vendor.constants.use(True)
    yield
    vendor.constants.use(False)
    vendor.constants.forget(*place)


@pytest.mark.parametrize("rows", [(40, 41, 57), (8,)], ids=["many", "few"])
def test_products_share_the_packed_weight(vendor: Vendor, rows: tuple[int, ...]) -> None:
    calls = [Product(vendor, count) for count in rows]
    weight = calls[0].weight
    before = vendor.constants.statistics()
    with constant(vendor, weight):
        for call in calls:
            call.weight = weight
            np.testing.assert_allclose(call(), call.want(), atol=1e-3)
        now = vendor.constants.statistics()
    assert now.kept == before.kept + vendor_has_onednn(vendor)


@pytest.mark.parametrize("name", CALLS)
def test_what_is_kept_is_right_is_read_and_is_forgotten(vendor: Vendor, name: str) -> None:
    call = CALLS[name](vendor)
    plain, constants, place = call(), vendor.constants, declared(vendor, call.weight)
    before = constants.statistics()
    constants.declare(*place)
    assert (call() == plain).all(), "no thread uses constants yet"
    assert constants.statistics().kept == before.kept
    constants.use(True)
    for _ in range(2):
        np.testing.assert_allclose(call(), call.want(), atol=1e-3)
    now = constants.statistics()
    assert now.ranges == before.ranges + 1 and now.bytes == before.bytes + place[1]
    if not vendor_has_onednn(vendor):
        pytest.skip("nothing is prepacked without oneDNN")
    assert now.kept == before.kept + 1 and now.kept_bytes >= before.kept_bytes + place[1]
    first = call()
    call.weight.copy_from(np.zeros(call.weight.shape, np.float32))
    assert (call() == first).all(), "the weight was read instead of its packed copy"
    constants.use(False)
    assert (call() == 0).all(), "threads without constants read the memory"
    constants.use(True)
    constants.forget(*place)
    assert (call() == 0).all()
    assert constants.statistics() == before


def vendor_has_onednn(vendor: Vendor) -> bool:
    return "no oneDNN" not in vendor.choices.identity()


def test_only_the_thread_that_uses_constants_does(vendor: Vendor) -> None:
    call = Product(vendor)
    plain, place = call(), declared(vendor, call.weight)
    vendor.constants.declare(*place)
    vendor.constants.use(True)
    call()
    call.weight.copy_from(np.zeros(call.weight.shape, np.float32))
    found: list[np.ndarray] = []
    other = threading.Thread(target=lambda: found.append(call()))
    other.start()
    other.join()
    assert (found[0] == 0).all() and (plain != 0).any()
    vendor.constants.forget(*place)


def test_many_threads_keep_one_thing(vendor: Vendor) -> None:
    call = Product(vendor)
    want, place = call.want(), declared(vendor, call.weight)
    before = vendor.constants.statistics()
    vendor.constants.declare(*place)
    errors: list[float] = []

    def run() -> None:
        vendor.constants.use(True)
        for _ in range(50):
            errors.append(float(np.abs(call() - want).max()))

    threads = [threading.Thread(target=run) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(errors) == 300 and max(errors) < 1e-3
    assert vendor.constants.statistics().kept <= before.kept + 1
    vendor.constants.forget(*place)
    assert vendor.constants.statistics() == before


def test_what_is_declared_twice_is_forgotten_twice(vendor: Vendor) -> None:
    place = declared(vendor, random_tensor(vendor, 8, 8))
    before = vendor.constants.statistics()
    vendor.constants.declare(*place)
    vendor.constants.declare(*place)
    vendor.constants.forget(*place)
    assert vendor.constants.statistics().ranges == before.ranges + 1
    vendor.constants.forget(*place)
    assert vendor.constants.statistics() == before
    with pytest.raises(VendorError, match="was not declared, or has been forgotten"):
        vendor.constants.forget(*place)


@pytest.mark.parametrize("name", CALLS)
def test_a_write_that_one_of_two_hosts_knows_of_is_seen_by_both(vendor: Vendor, name: str) -> None:
    call = CALLS[name](vendor)
    constants, place = vendor.constants, declared(vendor, call.weight)
    before = constants.statistics()
    constants.use(True)
    constants.declare(*place)
    assert np.abs(call()).max() > 0
    call.weight.copy_from(np.zeros(call.weight.shape, np.float32))
    constants.declare(*place)  # by another host, which has never seen the old weight
    assert (call() == 0).all()
    call.weight.copy_from(np.ones(call.weight.shape, np.float32))
    constants.forget(*place)  # one host has seen the write
    constants.declare(*place)
    np.testing.assert_allclose(call(), call.want(), atol=1e-3)
    for _ in range(2):
        constants.forget(*place)
    assert constants.statistics() == before


@pytest.mark.parametrize("place", [(0, 8), (4096, 0)])
def test_what_is_no_memory_is_refused(vendor: Vendor, place: tuple[int, int]) -> None:
    with pytest.raises(VendorError, match="is empty or at NULL"):
        vendor.constants.declare(*place)

from __future__ import annotations

from contextlib import closing

import numpy as np
import pytest

from diopi_proto import ffi
from driver import INVALID_ARGUMENT, ON_DEVICE, OUT_OF_MEMORY, TO_HOST, Driver, StatusError

MIB = 1 << 20


@pytest.fixture
def small(monkeypatch):
    """An instance whose devices have one MiB each."""
    monkeypatch.setenv("DL_ASYNC_TEST_MEMORY", str(MIB))
    with closing(Driver()) as driver:
        yield driver


def test_fresh_memory_is_nan(driver):
    data = driver.read(driver.allocate(64), 64)
    assert np.isnan(np.frombuffer(data, np.float32)).all()
    assert np.isnan(np.frombuffer(data, np.float64)).all()
    assert np.isnan(np.frombuffer(data, np.float16)).all()


def test_memory_is_aligned(driver):
    assert [driver.allocate(1) % 64 for _ in range(3)] == [0, 0, 0]


def test_interior_addresses_reach_their_bytes(driver):
    memory = driver.allocate(1000)
    driver.set(memory, 1, 1000)
    driver.set(memory + 333, 2, 334)
    assert driver.read(memory, 1000) == b"\1" * 333 + b"\2" * 334 + b"\1" * 333
    assert driver.read(memory + 332, 2) == b"\1\2"


def test_overlapping_copy_on_the_device_moves(driver):
    memory = driver.tensor(np.arange(100, dtype=np.uint8)).address
    driver.copy(memory + 10, memory, 90, ON_DEVICE)
    assert driver.read(memory, 100) == bytes([*range(10), *range(90)])


def test_memory_beyond_the_limit_is_out_of_memory(small):
    small.allocate(MIB // 2)
    with pytest.raises(StatusError, match=r"DL_ASYNC_TEST_MEMORY") as error:
        small.allocate(MIB // 2 + 1)
    assert error.value.code == OUT_OF_MEMORY


def test_absurd_size_is_out_of_memory(small):
    with pytest.raises(StatusError) as error:
        small.allocate(2**64 - 1)
    assert error.value.code == OUT_OF_MEMORY


def test_each_device_has_its_own_memory(small):
    small.allocate(MIB, device=0)
    small.allocate(MIB, device=1)


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (0, 2, 1), (1, 0, 2)])
def test_freed_neighbours_become_one_gap(small, order):
    blocks = [small.allocate(MIB // 4) for _ in range(4)]
    for index in order:
        small.free(blocks[index])
    assert small.allocate(3 * MIB // 4) == blocks[0]


def test_memory_info_counts_what_is_taken(small):
    def free_and_total():
        free, total = ffi.new("uint64_t*"), ffi.new("uint64_t*")
        small.call("memory_info", 0, free, total)
        return free[0], total[0]

    assert free_and_total() == (MIB, MIB)
    memory = small.allocate(1024)
    assert free_and_total() == (MIB - 1024, MIB)
    small.free(memory)
    assert free_and_total() == (MIB, MIB)


def test_work_that_outlives_its_memory_sees_poison(driver):
    memory, pinned = driver.allocate(64), driver.pinned(64)
    driver.set(memory, 7, 64)
    driver.synchronize()
    driver.control.hold()
    driver.copy(pinned, memory, 64, TO_HOST)
    driver.free(memory)
    driver.control.release()
    driver.synchronize()
    assert bytes(ffi.buffer(ffi.cast("char*", pinned), 64)) == b"\xdb" * 64


def test_memory_is_freed_once(driver):
    memory = driver.allocate(64)
    driver.free(memory)
    with pytest.raises(StatusError, match="not the start of an allocation") as error:
        driver.free(memory)
    assert error.value.code == INVALID_ARGUMENT


def test_interior_address_is_not_freed(driver):
    memory = driver.allocate(64)
    with pytest.raises(StatusError, match="not the start of an allocation"):
        driver.free(memory + 8)
    driver.free(memory)


@pytest.mark.parametrize(("offset", "count"), [(0, 65), (-1, 2), (64, 1), (1 << 45, 1)])
def test_work_outside_an_allocation_is_refused(driver, offset, count):
    memory = driver.allocate(64)
    with pytest.raises(StatusError, match="not inside one live allocation") as error:
        driver.set(memory + offset, 0, count)
    assert error.value.code == INVALID_ARGUMENT


def test_work_on_freed_memory_is_refused(driver):
    memory = driver.allocate(64)
    driver.free(memory)
    with pytest.raises(StatusError, match="not inside one live allocation"):
        driver.read(memory, 64)


def test_memory_of_another_device_is_refused(driver):
    memory = driver.allocate(64, device=1)
    with pytest.raises(StatusError, match="live allocation of device 0"):
        driver.set(memory, 0, 64, device=0)
    driver.set(memory, 0, 64, device=1)


def test_pinned_memory_in_use_is_not_freed(driver):
    memory, pinned = driver.allocate(64), driver.pinned(64)
    driver.control.hold()
    driver.copy(pinned, memory, 64, TO_HOST)
    with pytest.raises(StatusError, match="enqueued copies still use the memory"):
        driver.host_free(pinned)
    driver.control.release()
    driver.synchronize()
    driver.host_free(pinned)


def test_zero_bytes_are_not_allocated(driver):
    with pytest.raises(StatusError, match="0 bytes"):
        driver.allocate(0)


def test_pinned_memory_is_limited(monkeypatch):
    monkeypatch.setenv("DL_ASYNC_TEST_PINNED", str(MIB))
    with closing(Driver()) as driver:
        half = driver.pinned(MIB // 2)
        driver.pinned(MIB // 2)
        with pytest.raises(StatusError, match="1 bytes of pinned memory asked for, 0") as error:
            driver.pinned(1)
        assert error.value.code == OUT_OF_MEMORY
        driver.host_free(half)
        driver.pinned(MIB // 2)

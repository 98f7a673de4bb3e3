"""Tests of the checks of the extensions' arguments: an older host gets no more fields than it
knows.

The tests call the library's slots directly, without a host.
"""

from __future__ import annotations

import math

import pytest

from diopi_proto import NotSupportedError, VendorError, ffi
from diopi_proto.host.cabi import constants
from diopi_proto.host.structs import raise_status
from driver import Driver

MOST = (1 << 64) - 1
FLOAT32 = 9


class Extensions:
    """The slots of one instance's extensions."""

    def __init__(self, driver: Driver) -> None:
        self.driver = driver

    def call(self, name, slot, *arguments):
        link = self.driver.table.extensions
        while link.type != getattr(constants, f"DL_EXT_{name.upper()}"):
            link = link.next
        table = ffi.cast(f"dl_{name}_extension_t*", link)
        self.driver.make_current(0)
        raise_status(getattr(table, slot)(self.driver.instance, *arguments), slot, "async")

    def graph(self):
        self.call("graph", "capture_begin", 0, ffi.NULL, 0)
        found = ffi.new("void**")
        self.call("graph", "capture_end", 0, ffi.NULL, found)
        return found[0]

    def communicator(self):
        name, found = ffi.new("dl_communicator_id_t*"), ffi.new("void**")
        self.call("communicator", "unique_id", name)
        self.call("communicator", "create", 0, name, 1, 0, 60.0, found)
        return found[0]


@pytest.fixture
def extensions(driver):
    return Extensions(driver)


# Functions that fill each struct, and the last field that an older host knows.
FILLED = {
    "dl_graph_properties_t": (
        lambda e, raw: e.call("graph", "properties", 0, e.graph(), raw),
        "nodes",
    ),
    "dl_clock_t": (lambda e, raw: e.call("profiler", "clock", 0, raw), "uncertainty"),
    "dl_communicator_properties_t": (
        lambda e, raw: e.call("communicator", "properties", e.communicator(), raw),
        "device",
    ),
}


@pytest.mark.parametrize("kind", FILLED)
def test_an_older_host_gets_no_more_than_its_struct_holds(extensions, kind):
    fill, field = FILLED[kind]
    raw, size = ffi.new(f"{kind}*"), ffi.offsetof(kind, field)
    ffi.buffer(raw)[:] = b"\xaa" * ffi.sizeof(kind)
    raw.struct_size = size
    fill(extensions, raw)
    beyond = bytes(ffi.buffer(raw))[size:]
    assert beyond == b"\xaa" * len(beyond) and raw.struct_size == size


@pytest.mark.parametrize("kind", FILLED)
def test_a_newer_host_gets_what_the_vendor_knows(extensions, kind):
    fill, _ = FILLED[kind]
    size = ffi.sizeof(kind)
    memory = ffi.new("char[]", b"\xaa" * (size + 64))
    raw = ffi.cast(f"{kind}*", memory)
    raw.struct_size = size + 64
    fill(extensions, raw)
    assert bytes(ffi.buffer(memory))[size : size + 64] == b"\xaa" * 64
    assert raw.struct_size == size + 64


@pytest.mark.parametrize("kind", FILLED)
def test_a_struct_that_is_none_is_refused(extensions, kind):
    fill, _ = FILLED[kind]
    short = ffi.new(f"{kind}*")
    short.struct_size = 7
    for raw in (ffi.NULL, short):
        with pytest.raises(VendorError, match="struct to fill is NULL or too short"):
            fill(extensions, raw)


REFUSED = {
    "no id": (
        lambda e: e.call("communicator", "create", 0, ffi.NULL, 1, 0, 0.0, ffi.new("void**")),
        "the id is NULL",
    ),
    "no room for an id": (
        lambda e: e.call("communicator", "unique_id", ffi.NULL),
        "the id is NULL",
    ),
    "no handle": (
        lambda e: e.call(
            "peer", "open_memory", 0, ffi.NULL, ffi.new("void**"), ffi.new("uint64_t*")
        ),
        "the handle is NULL",
    ),
    "no room for a handle": (
        lambda e: e.call(
            "peer", "export_memory", 0, ffi.cast("void*", e.driver.allocate(8)), ffi.NULL
        ),
        "the handle is NULL",
    ),
    "flags of a capture": (
        lambda e: e.call("graph", "capture_begin", 0, ffi.NULL, 1),
        "flags of a capture must be 0",
    ),
    "flags of a profiler": (
        lambda e: e.call("profiler", "start", 0, MOST),
        "flags of a profiler are zero",
    ),
    "no graph": (
        lambda e: e.call("graph", "launch", 0, ffi.NULL, ffi.NULL),
        "the handle 0 is not a graph of device 0",
    ),
    "no communicator": (
        lambda e: e.call("communicator", "abort", ffi.NULL),
        "the handle 0 is not a communicator",
    ),
    "another device": (
        lambda e: e.call("profiler", "start", -1, 0),
        "device -1 does not exist; number of devices: 2",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_makes_no_sense_is_refused(extensions, case):
    use, told = REFUSED[case]
    with pytest.raises(VendorError) as caught:
        use(extensions)
    assert told in str(caught.value)


@pytest.mark.parametrize(
    ("ranks", "rank", "seconds", "told"),
    [
        (0, 0, 1.0, "rank 0 of 0 ranks is invalid; supported: 1 to 1024"),
        (-1, -1, 1.0, "rank -1 of -1 ranks"),
        (1025, 0, 1.0, "rank 0 of 1025 ranks"),
        (2, -1, 1.0, "rank -1 of 2 ranks"),
        (1, 0, math.nan, "nan seconds is not a timeout"),
        (1, 0, -1.0, "-1.000000 seconds is not a timeout"),
    ],
)
def test_ranks_and_times_that_cannot_be_are_refused(extensions, ranks, rank, seconds, told):
    name = ffi.new("dl_communicator_id_t*")
    extensions.call("communicator", "unique_id", name)
    with pytest.raises(VendorError) as caught:
        extensions.call("communicator", "create", 0, name, ranks, rank, seconds, ffi.new("void**"))
    assert told in str(caught.value)


@pytest.mark.parametrize(
    ("count", "dtype", "told"),
    [
        (5, FLOAT32, "20 bytes at 0x[0-9a-f]+ are not inside one live allocation"),
        (1 << 61, FLOAT32, "are not inside one live allocation"),
        (1 << 63, FLOAT32, f"{1 << 63} elements are too many"),
        (MOST, FLOAT32, f"{MOST} elements are too many"),
        (4, 99, "dtype 99 is not a diopiDtype_t"),
        (4, -1, "dtype -1 is not a diopiDtype_t"),
    ],
)
def test_sizes_and_dtypes_that_do_not_fit_are_refused(extensions, driver, count, dtype, told):
    memory = ffi.cast("void*", driver.allocate(16))
    one = extensions.communicator()
    calls = {
        "all_reduce": (memory, memory, count, dtype, constants.DL_REDUCE_SUM, ffi.NULL),
        "broadcast": (memory, memory, count, dtype, 0, ffi.NULL),
        "all_gather": (memory, memory, count, dtype, ffi.NULL),
        "reduce_scatter": (memory, memory, count, dtype, constants.DL_REDUCE_SUM, ffi.NULL),
        "all_to_all": (memory, memory, count, dtype, ffi.NULL),
        "send": (memory, count, dtype, 0, ffi.NULL),
        "receive": (memory, count, dtype, 0, ffi.NULL),
    }
    for slot, arguments in calls.items():
        with pytest.raises(VendorError, match=told):
            extensions.call("communicator", slot, one, *arguments)
    # Nothing was enqueued.
    driver.synchronize()
    extensions.call("communicator", "check", one)


def test_ranks_that_are_not_there_and_streams_of_others_are_refused(extensions, driver):
    memory = ffi.cast("void*", driver.allocate(16))
    one = extensions.communicator()
    for peer in (-1, 1, 1 << 20):
        for slot in ("send", "receive"):
            with pytest.raises(VendorError, match=f"peer {peer} is not one of the 1 ranks"):
                extensions.call("communicator", slot, one, memory, 4, FLOAT32, peer, ffi.NULL)
        with pytest.raises(VendorError, match=f"root {peer} is not one of the 1 ranks"):
            extensions.call(
                "communicator", "broadcast", one, memory, memory, 4, FLOAT32, peer, ffi.NULL
            )
    stream = ffi.cast("void*", driver.stream(1))
    with pytest.raises(VendorError, match="is not a stream of device 0"):
        extensions.call("communicator", "send", one, memory, 4, FLOAT32, 0, stream)
    with pytest.raises(NotSupportedError, match="operation -1 is not a dl_reduce_t"):
        extensions.call("communicator", "all_reduce", one, memory, memory, 4, FLOAT32, -1, ffi.NULL)


@pytest.mark.parametrize("count", [17, MOST, MOST - 15])
def test_a_peer_copy_that_is_too_long_is_refused(extensions, driver, count):
    here = ffi.cast("void*", driver.allocate(16))
    there = ffi.cast("void*", driver.allocate(16, device=1))
    with pytest.raises(VendorError, match=f"{count} bytes at .* are not inside one live"):
        extensions.call("peer", "copy", 0, here, 1, there, count, ffi.NULL)

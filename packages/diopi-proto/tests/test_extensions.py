"""Extensions of a vendor: lookup, arguments, validation, and older or newer ones."""

from __future__ import annotations

import gc
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from cffi import FFI

from diopi_proto import (
    AbiMismatchError,
    ArgumentError,
    ClosedError,
    NotSupportedError,
    Vendor,
    VendorError,
    load_vendor,
)
from diopi_proto.choices import ChoiceKey, ChoiceStatistics
from diopi_proto.constants import ConstantsStatistics
from diopi_proto.host.cabi import ffi
from diopi_proto.host.communicators import Communicator
from diopi_proto.trial import TriedKernels, try_library

Compile = Callable[..., Path]
ALL = {"choices", "communicator", "constants", "graph", "kernel", "peer", "profiler"}


class Fixture:
    """A new copy of the fixture vendor, and its log of calls."""

    def __init__(self, path: Path) -> None:
        self.path = path
        own = FFI()
        own.cdef("const char* fixture_said(void); int64_t fixture_released(void);")
        self._own, self._library = own, own.dlopen(str(path))

    @property
    def last_call(self) -> str:
        return self._own.string(self._library.fixture_said()).decode()

    @property
    def released(self) -> int:
        return int(self._library.fixture_released())


@pytest.fixture
def fixture(build: Compile, copied: Callable[[Path], Path]) -> Fixture:
    return Fixture(copied(build("extensions.cpp")))


@pytest.fixture
def lie(fixture: Fixture, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Fixture]:
    def load_fixture(name: str) -> Fixture:
        monkeypatch.setenv("FIXTURE_LIE", name)
        return fixture

    return load_fixture


@pytest.fixture
def older(fixture: Fixture, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Fixture]:
    monkeypatch.setenv("FIXTURE_IDS", "both")

    def load_truncated(extension: str, end: int) -> Fixture:
        monkeypatch.setenv("FIXTURE_OLD", extension)
        monkeypatch.setenv("FIXTURE_BYTES", str(end))
        return fixture

    return load_truncated


def test_known_extensions_are_found_among_others(fixture: Fixture) -> None:
    with load_vendor(fixture.path) as vendor:
        assert vendor.extensions == ALL


def test_a_vendor_without_extensions_says_so(build: Compile) -> None:
    with load_vendor(build("vendor.cpp")) as vendor:
        assert vendor.extensions == frozenset()
        for name in (
            *("kernels", "graphs", "profiler", "communicators", "peers", "choices"),
            "constants",
        ):
            with pytest.raises(NotSupportedError, match=r"does not support the \w+ extension"):
                getattr(vendor, name)
    with pytest.raises(ClosedError):
        _ = vendor.kernels


def test_kernels_are_compiled_loaded_and_launched(fixture: Fixture) -> None:
    with load_vendor(fixture.path) as vendor:
        kernels = vendor.kernels
        found = kernels.properties(1)
        assert found.languages == ("fixture", "c++") and found.compiler == "fixture-cc 1"
        assert found.max_block == (0, 7, 0)
        code = kernels.compile("text", name="n", options=["-a", "-b"], headers={"h": "x"}, device=1)
        assert fixture.last_call == "compile 1 2 1 fixture n text -a -b h=x"
        assert (code.bytes, code.log, code.cached) == (b"code!", "it can\nbe done", True)
        assert fixture.released == 1
        module = kernels.load(code)
        assert fixture.last_call == "load 0 code!"
        function = module.function("f")
        assert fixture.last_call == "find 11 f"
        properties = function.properties
        assert (properties.registers, properties.spill_bytes) == (32, None)
        tensor = vendor.tensor(np.ones(3, np.float32))
        function(tensor, np.int8(1), 2.0, None, grid=(2, 3), block=4, shared_bytes=8)
        # An address, a byte, a double and NULL, at the offsets of a C struct.
        assert fixture.last_call == "launch 0 22 2 3 1 4 8 0 32 0:8:1 8:1:0 16:8:0 24:8:1"
        del module, function
        gc.collect()
        assert fixture.last_call == "unload 11" and fixture.released == 2


def test_graphs_capture_and_launch(fixture: Fixture) -> None:
    with load_vendor(fixture.path) as vendor:
        graphs, stream = vendor.graphs, vendor.stream(1)
        with graphs.capture(stream) as graph:
            assert fixture.last_call == "capture_begin 1 0 0"
            assert graphs.capturing(stream)
        assert fixture.last_call == "capture_end 1 0"
        assert graph.nodes == 5
        graph.launch(stream)
        assert fixture.last_call == "launch 1 33 0"
        del graph
        gc.collect()
        assert fixture.last_call == "destroy 33" and fixture.released == 1


def test_activities_are_read_by_their_own_size(fixture: Fixture) -> None:
    with load_vendor(fixture.path) as vendor:
        profiler = vendor.profiler
        profiler.start(1)
        assert fixture.last_call == "start 1 0"
        profiler.stop(1)
        (first, second), dropped = profiler.collect(1)
        assert (first.name, first.kind, first.device) == ("first", "kernel", 1)
        assert (first.stream, first.correlation, first.start, first.end) == (64, 9, 100, 250)
        assert (second.name, second.kind, second.bytes) == ("second", "other", 4096)
        assert dropped == 3 and fixture.released == 1
        assert profiler.clock().host_time(1500) == 5500
        assert profiler.correlate(17) == 8 and fixture.last_call == "correlate 17"


def test_choices_pass_what_they_were_given(fixture: Fixture) -> None:
    with load_vendor(fixture.path) as vendor:
        choices = vendor.choices
        assert choices.identity(1) == "fixture 1, on a GPU" and fixture.last_call == "properties 1"
        first, second = choices.recorded()
        assert (first.calls, second.calls) == (1, 2)
        assert first.key == ChoiceKey("gemm", (0, -3)) == ChoiceKey.parse("gemm:0,-3")
        assert first.choices == ("ours", "theirs/1")
        choices.install({ChoiceKey("sum", (1,)): "x", first.key: "theirs/1"}, device=1)
        assert fixture.last_call == "install 1 2 gemm 2 -3 theirs/1"
        choices.install({})
        assert fixture.last_call == "install 0 0"
        asked: list[int] = []
        choices.request(lambda: asked.append(1))
        assert asked == [1] and fixture.last_call == "request 0 1"
        choices.request(None)
        assert fixture.last_call == "request 0 0"
        choices.record(7, 1)
        assert fixture.last_call == "record 1 7"
        assert choices.statistics() == ChoiceStatistics(entries=1, hits=2, misses=3)


def test_constants_pass_what_they_were_given(fixture: Fixture) -> None:
    with load_vendor(fixture.path) as vendor:
        constants = vendor.constants
        constants.declare(4096, 100, 1)
        assert fixture.last_call == "declare 1 4096 100"
        constants.forget(4096, 2**40)
        assert fixture.last_call == f"forget 0 4096 {2**40}"
        constants.use(True)
        assert fixture.last_call == "use 0 1"
        constants.use(False)
        assert fixture.last_call == "use 0 0"
        assert constants.statistics() == ConstantsStatistics(
            ranges=1, bytes=2, kept=3, kept_bytes=4
        )


def test_choices_that_no_table_can_hold_are_refused(fixture: Fixture) -> None:
    with load_vendor(fixture.path) as vendor:
        for key, name in ((ChoiceKey("gemm", (1,) * 65), "x"), (ChoiceKey("g", ()), "x" * 32)):
            with pytest.raises(ArgumentError, match=r"\[choices.install\]"):
                vendor.choices.install({key: name})
    with pytest.raises(ArgumentError, match="not a key; the form is"):
        ChoiceKey.parse("gemm:one")


def test_collectives_pass_what_they_were_given(fixture: Fixture) -> None:
    with load_vendor(fixture.path) as vendor:
        communicators = vendor.communicators
        name = communicators.unique_id()
        assert name == bytes(range(128))
        one = communicators.create(name, 2, 1, device=1, seconds=3)
        assert fixture.last_call == "create 1 127 2 1 3"
        two, four = vendor.empty((2,), device=1), vendor.empty((4,), device=1)
        calls: dict[str, Callable[[Communicator], object]] = {
            "all_reduce 44 2 9 4 0": lambda c: c.all_reduce(two, two, "average"),
            "reduce 1 0 2 9 0 0": lambda c: c.reduce(two, None, 0),
            "broadcast 2 9 1": lambda c: c.broadcast(None, two, 1),
            "all_gather 2 9": lambda c: c.all_gather(two, four),
            "reduce_scatter 2 9 3": lambda c: c.reduce_scatter(four, two, "maximum"),
            "all_to_all 2 9": lambda c: c.all_to_all(four, four),
            "gather 2 9 0": lambda c: c.gather(two, None, 0),
            "scatter 2 9 1": lambda c: c.scatter(four, two, 1),
            "send 2 9 0": lambda c: c.send(two, 0),
            "receive 2 9 0": lambda c: c.receive(two, 0),
            "abort 44": lambda c: c.abort(),
            "check 44": lambda c: c.check(),
        }
        for said, passes in calls.items():
            passes(one)
            assert fixture.last_call == said
        with communicators.group():
            assert fixture.last_call == "group_begin"
        assert fixture.last_call == "group_end"
        assert not one.aborted
        wrong: list[Callable[[Communicator], object]] = [
            lambda c: c.all_gather(two, two),
            lambda c: c.all_reduce(two, vendor.empty((2,), "int32", device=1)),
            lambda c: c.all_reduce(vendor.empty((2,)), two),
            lambda c: c.all_reduce(two, two, "median"),
            lambda c: c.broadcast(two, two, 2),
            lambda c: c.send(four.as_strided((2,), (2,)), 0),
            lambda c: communicators.create(b"short", 1, 0),
        ]
        for call in wrong:
            with pytest.raises(ArgumentError):
                call(one)
        del one
        gc.collect()
        assert fixture.last_call == "destroy 44"


LONG_ID = bytes(i * 7 % 256 for i in range(4108))


def test_ids_of_a_communicator_have_any_size(
    fixture: Fixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FIXTURE_IDS", "long")
    with load_vendor(fixture.path) as vendor:
        name = vendor.communicators.unique_id()
        assert name == LONG_ID and fixture.last_call == "sized_unique_id 4108"
        one = vendor.communicators.create(name, 2, 1, device=1, seconds=3)
        assert fixture.last_call == f"sized_create 1 {LONG_ID[-1]} 4108 2 1 3"
        with pytest.raises(ArgumentError, match="name has 128 bytes, expected 4108"):
            vendor.communicators.create(bytes(128), 2, 1)
        assert not one.aborted


def test_a_vendor_with_long_ids_is_not_supported_without_their_slots(
    older: Callable[..., Fixture], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As an older host sees it: its struct ends before the slots of long ids."""
    monkeypatch.setenv("FIXTURE_IDS", "long")
    fixture = older("communicator", ffi.offsetof("dl_communicator_extension_t", "sized_create"))
    with (
        load_vendor(fixture.path) as vendor,
        pytest.raises(NotSupportedError, match=r"\[communicator.unique_id\]"),
    ):
        vendor.communicators.unique_id()


LONG_IDS_WRONG = {
    "id_is_empty": (
        lambda v: v.communicators.unique_id(),
        "its communicator ids have 0 bytes, not 1 to 1048576",
    ),
    "id_is_huge": (
        lambda v: v.communicators.create(LONG_ID, 1, 0),
        "its communicator ids have 18446744073709551615 bytes",
    ),
    "communicator_is_missing": (
        lambda v: v.communicators.create(LONG_ID, 1, 0),
        "returns no communicator",
    ),
}


@pytest.mark.parametrize("name", LONG_IDS_WRONG)
def test_a_wrong_answer_about_long_ids_is_an_error(
    lie: Callable[[str], Fixture], monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv("FIXTURE_IDS", "long")
    use, message = LONG_IDS_WRONG[name]
    with load_vendor(lie(name).path) as vendor, pytest.raises(VendorError, match=message):
        use(vendor)


def test_peers_copy_and_share(fixture: Fixture) -> None:
    with load_vendor(fixture.path) as vendor:
        peers = vendor.peers
        assert peers.can_access(0, 1) and not peers.can_access(1, 1)
        peers.enable_access(0, 1)
        assert fixture.last_call == "enable_access 0 1"
        peers.disable_access(1, 0)
        assert fixture.last_call == "disable_access 1 0"
        here, there = vendor.empty((3,)), vendor.empty((3,), device=1)
        peers.copy(there, here)
        assert fixture.last_call == "copy 0 1 12 0"
        handle = peers.export_memory(there)
        assert handle == b"\7" * 128 and fixture.last_call == "export_memory 1"
        opened = peers.open_memory(handle, (3, 4), "int32", device=1)
        assert fixture.last_call == "open_memory 1 7" and opened.address == 4096
        with pytest.raises(ArgumentError, match="48 bytes, fewer than"):
            peers.open_memory(handle, (13,), "int32")
        assert fixture.released == 1
        del opened
        gc.collect()
        assert fixture.last_call == "close_memory 1 4096" and fixture.released == 2
        for wrong in (
            lambda: peers.copy(there, vendor.empty((4,))),
            lambda: peers.copy(there, vendor.empty((3,), device=None)),
            lambda: peers.open_memory(b"short", (1,)),
        ):
            with pytest.raises(ArgumentError):
                wrong()


# Older and newer extensions.


def test_slots_that_an_older_extension_does_not_reach_are_missing(
    older: Callable[..., Fixture],
) -> None:
    """The memory after the extension contains garbage."""
    end = ffi.offsetof("dl_kernel_extension_t", "function_properties")
    with load_vendor(older("kernel", end).path) as vendor:
        function = vendor.kernels.load(b"code!").function("f")
        with pytest.raises(NotSupportedError, match=r"\[kernel.function_properties\] .*newer"):
            _ = function.properties
        with pytest.raises(NotSupportedError, match=r"\[kernel.launch\]"):
            function()


@pytest.mark.parametrize("extension", sorted(ALL))
def test_an_extension_without_slots_has_none(older: Callable[..., Fixture], extension: str) -> None:
    with load_vendor(older(extension, ffi.sizeof("dl_extension_t")).path) as vendor:
        assert vendor.extensions == ALL
        uses: dict[str, Callable[[], object]] = {
            "kernel": lambda: vendor.kernels.load(b"x"),
            "graph": lambda: vendor.graphs.capturing(vendor.stream()),
            "profiler": lambda: vendor.profiler.start(),
            "communicator": lambda: vendor.communicators.unique_id(),
            "peer": lambda: vendor.peers.can_access(0, 1),
            "choices": lambda: vendor.choices.install({}),
            "constants": lambda: vendor.constants.declare(1, 1),
        }
        with pytest.raises(NotSupportedError, match=rf"\[{extension}\.\w+\] vendor extended"):
            uses[extension]()


@pytest.mark.parametrize("extension", sorted(ALL))
def test_a_slot_that_is_reached_by_half_is_missing(
    older: Callable[..., Fixture], extension: str
) -> None:
    kind = f"dl_{extension}_extension_t"
    last = ffi.typeof(kind).fields[-1][0]
    with load_vendor(older(extension, ffi.sizeof(kind) - 1).path) as vendor:
        slots = vendor._instance.extensions[extension]  # type: ignore[attr-defined]
        assert not slots.has(last)
        assert slots.has(ffi.typeof(kind).fields[-2][0])


@pytest.mark.parametrize("extension", sorted(ALL))
def test_a_newer_extension_is_as_good(older: Callable[..., Fixture], extension: str) -> None:
    end = ffi.sizeof(f"dl_{extension}_extension_t") + 16
    with load_vendor(older(extension, end).path) as vendor:
        slots = vendor._instance.extensions[extension]  # type: ignore[attr-defined]
        fields = [name for name, _ in ffi.typeof(f"dl_{extension}_extension_t").fields[3:]]
        assert all(slots.has(name) for name in fields)


def test_an_older_caller_gets_no_more_than_its_struct_holds(fixture: Fixture) -> None:
    with load_vendor(fixture.path) as vendor:
        raw = ffi.new("dl_kernel_properties_t*")
        raw.struct_size = ffi.offsetof("dl_kernel_properties_t", "max_grid")
        raw.max_block[1] = 99
        slots = vendor._instance.extensions["kernel"]  # type: ignore[attr-defined]
        with pytest.raises(VendorError, match=r"writes beyond the \d+ bytes of a device's kernel"):
            slots.call("properties", 0, raw)
        assert raw.max_block[1] == 99


def test_a_host_that_knows_no_extensions_uses_the_table(fixture: Fixture) -> None:
    """An older host reads only the table, since extensions are in a separate chain."""
    with load_vendor(fixture.path) as vendor:
        assert vendor.tensor([1.0, 2.0]).numpy().tolist() == [1.0, 2.0]


def test_a_host_that_knows_extensions_takes_a_vendor_from_before_them(
    older: Callable[..., Fixture],
) -> None:
    with load_vendor(older("all", 0).path) as vendor:
        assert vendor.extensions == frozenset()
        assert vendor.tensor([1.0, 2.0]).numpy().tolist() == [1.0, 2.0]


def test_a_status_from_before_details_has_none(build: Compile) -> None:
    with load_vendor(build("vendor.cpp")) as vendor, pytest.raises(VendorError) as caught:
        vendor.empty((1 << 34,))
    assert caught.value.details == "" and "\n" not in str(caught.value)


# Invalid extensions.

AT_LOAD = {
    "slot_is_nowhere": "whose launch is at 0x123450, which is not memory of this process",
    "slot_is_no_code": "returns a kernel extension whose launch is at 0x",
    "extension_comes_twice": "returns two graph extensions",
    "extension_is_longer_than_memory": "returns an extension of 1048576 bytes",
}


@pytest.mark.parametrize(("name", "told"), AT_LOAD.items())
def test_a_wrong_chain_is_refused(lie: Callable[[str], Fixture], name: str, told: str) -> None:
    path = lie(name).path
    with pytest.raises(AbiMismatchError) as caught:
        load_vendor(path)
    assert told in str(caught.value)
    trial = try_library(path)
    assert not trial.ok and told in trial.problem


def test_the_trial_tells_extensions_and_what_compiles(lie: Callable[[str], Fixture]) -> None:
    trial = try_library(lie("nothing").path)
    assert trial.ok and set(trial.extensions) == ALL
    assert trial.kernels == TriedKernels("fixture,c++", "fixture-cc 1", "")
    misled = try_library(lie("texts_mislead").path).kernels
    assert misled is not None and misled.languages == r"c\n\x1b[2J"


COMPILE: Callable[[Vendor], object] = lambda v: v.kernels.compile("x", language="c++")  # noqa: E731
COLLECT: Callable[[Vendor], object] = lambda v: v.profiler.collect()  # noqa: E731


def capture(vendor: Vendor) -> None:
    with vendor.graphs.capture(vendor.stream()):
        pass


WHEN_CALLED: dict[str, tuple[Callable[[Vendor], object], str]] = {
    "slots_throw": (lambda v: v.kernels.properties(), "it threw an exception: slot ran away"),
    "properties_are_longer": (lambda v: v.profiler.clock(), "it writes beyond the 32 bytes of a"),
    "code_is_missing": (COMPILE, "it reports success but returns no code"),
    "code_is_nowhere": (COMPILE, "it returns code at 0x123450, which is not memory"),
    "code_is_short": (COMPILE, "it returns code whose struct has 16 bytes"),
    "code_is_huge": (COMPILE, "it returns code whose struct has 18446744073709551615 bytes"),
    "code_bytes_are_nowhere": (COMPILE, "its code of 5 bytes at 0x123450 is not memory"),
    "code_bytes_are_too_many": (COMPILE, "its code of 18446744073709551615 bytes at"),
    "code_is_empty": (COMPILE, "its code of 0 bytes"),
    "compilation_fails": (COMPILE, "it does not compile (vendor extended)\nline 1: no\n"),
    "log_misleads": (COMPILE, "\n\\x1b[2Jgone\N{REPLACEMENT CHARACTER}"),
    "log_is_nowhere": (COMPILE, "it does not compile (vendor extended)"),
    "log_is_endless": (COMPILE, "x" * 65000),
    "module_is_missing": (lambda v: v.kernels.load(b"x"), "returns no module"),
    "function_is_missing": (
        lambda v: v.kernels.load(b"x").function("f"),
        "returns no function",
    ),
    "graph_is_missing": (capture, "returns no graph"),
    "activities_are_missing": (COLLECT, "returns no activities"),
    "activities_are_nowhere": (COLLECT, "it returns activities at 0x123450"),
    "activities_are_short": (COLLECT, "activities whose struct has 24 bytes"),
    "records_are_nowhere": (COLLECT, "its 2 records of 64 bytes at 0x123450 are not memory"),
    "records_are_too_many": (COLLECT, "its 18446744073709551615 records"),
    "records_are_more_than_memory": (COLLECT, "its 134217728 records"),
    "records_are_short": (COLLECT, "records of 8 bytes"),
    "record_ends_early": (COLLECT, "its record 1 ends before it starts"),
    "record_is_of_another_device": (COLLECT, "its record 1 is of device 1, not 0"),
    "records_are_out_of_order": (COLLECT, "its record 1 starts before the previous one"),
    "key_is_too_long": (
        lambda v: list(v.choices.recorded()),
        "its record 0 has a key of 65 values",
    ),
    "clock_is_uncertain_below_zero": (
        lambda v: v.profiler.clock(),
        "its clock is uncertain by -1 nanoseconds",
    ),
    "communicator_is_missing": (
        lambda v: v.communicators.create(bytes(128), 1, 0),
        "returns no communicator",
    ),
    "rank_is_none": (
        lambda v: v.communicators.create(bytes(128), 2, 1).aborted,
        "its communicator is rank 2 of 2",
    ),
    "peer_memory_is_missing": (
        lambda v: v.peers.open_memory(bytes(128), (1,)),
        "it opens 48 bytes of memory at (nil)",
    ),
    "peer_event_is_missing": (
        lambda v: v.peers._slots.call(
            "open_event", 0, ffi.new("dl_peer_handle_t*"), ffi.new("void**")
        ),
        "returns no event",
    ),
}


@pytest.mark.parametrize("name", WHEN_CALLED)
def test_a_wrong_answer_is_an_error(lie: Callable[[str], Fixture], name: str) -> None:
    use, told = WHEN_CALLED[name]
    with load_vendor(lie(name).path) as vendor:
        for _ in range(2):
            with pytest.raises(VendorError) as caught:
                use(vendor)
            assert told in str(caught.value)


def test_the_log_of_a_failed_compilation_is_whole(lie: Callable[[str], Fixture]) -> None:
    fixture = lie("compilation_fails")
    with load_vendor(fixture.path) as vendor, pytest.raises(VendorError) as caught:
        COMPILE(vendor)
    assert caught.value.details.splitlines() == ["line 1: no", "\\tline 2: never"]
    assert fixture.released == 1


def test_missing_slots_are_not_supported(lie: Callable[[str], Fixture]) -> None:
    with load_vendor(lie("slots_are_missing").path) as vendor:
        with pytest.raises(NotSupportedError, match=r"\[kernel.compile\]"):
            COMPILE(vendor)
        assert vendor.kernels.properties().compiler


def test_a_name_of_an_activity_may_be_anywhere(lie: Callable[[str], Fixture]) -> None:
    with load_vendor(lie("record_name_is_nowhere").path) as vendor:
        (_, second), _ = vendor.profiler.collect()
    assert second.name == "(invalid string at 0x123450)"


def test_code_from_before_the_log_has_none(lie: Callable[[str], Fixture]) -> None:
    with load_vendor(lie("code_is_old").path) as vendor:
        code = vendor.kernels.compile("x")
    assert (code.bytes, code.log, code.cached) == (b"code!", "", False)

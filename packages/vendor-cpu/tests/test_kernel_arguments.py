"""Tests of the checks of the kernel extension's arguments, called directly without a host."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import support
from diopi_proto import ArgumentError, Vendor, VendorError, load_vendor
from diopi_proto.host.cabi import ffi

pytestmark = pytest.mark.skipif(
    not any(map(shutil.which, ("c++", "g++", "clang++"))), reason="needs a C++ compiler"
)

SET = """
#include "dl_cpu_kernel.h"
DL_CPU_KERNEL(set) { *dl_cpu_argument<int32_t*>(arguments, 0) = 7; }
"""
MOST = (1 << 64) - 1


@pytest.fixture
def vendor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Vendor]:
    monkeypatch.setenv("DL_CPU_KERNEL_CACHE", str(tmp_path / "kernels"))
    with load_vendor(support.tested_library()) as opened:
        yield opened


def slots(vendor: Vendor) -> Any:
    return vendor.kernels._slots


class Source:
    """A source that compiles, until one of its fields is changed."""

    def __init__(self) -> None:
        self.kept = [ffi.new("char[]", text.encode()) for text in ("c++", "set.cpp", SET)]
        self.raw = ffi.new("dl_kernel_source_t*")
        self.raw.struct_size = ffi.sizeof("dl_kernel_source_t")
        self.raw.language, self.raw.name, self.raw.text = self.kept


def compile_source(vendor: Vendor, change: Callable[[Any], None]) -> None:
    source, code = Source(), ffi.new("dl_kernel_code_t**")
    change(source.raw)
    slots(vendor).call("compile", 0, source.raw, code)
    code[0].release(code[0])


def field(name: str, value: Any) -> Callable[[Any], None]:
    return lambda raw: setattr(raw, name, value)


def test_a_source_as_it_should_be_compiles(vendor: Vendor) -> None:
    compile_source(vendor, lambda raw: None)


def test_a_source_of_an_older_host_compiles(vendor: Vendor) -> None:
    """An older host does not know options, headers and timeout: these fields are ignored."""

    def older(raw: Any) -> None:
        raw.struct_size = ffi.offsetof("dl_kernel_source_t", "options")
        raw.option_count = raw.header_count = MOST
        raw.seconds = -1

    compile_source(vendor, older)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (field("struct_size", 0), "the source's struct is too short; set its struct_size"),
        (field("struct_size", 31), "the source's struct is too short; set its struct_size"),
        (field("language", ffi.NULL), "the language is NULL"),
        (field("name", ffi.NULL), "the name is NULL"),
        (field("text", ffi.NULL), "the text is NULL"),
        (field("option_count", 1), "the list of options is NULL"),
        (field("header_count", 1), "the list of headers is NULL"),
        (field("option_count", MOST), f"{MOST} options are more than 4096"),
        (field("header_count", 4097), "4097 headers are more than 4096"),
    ],
)
def test_a_wrong_source_is_refused(
    vendor: Vendor, change: Callable[[Any], None], told: str
) -> None:
    with pytest.raises(VendorError) as caught:
        compile_source(vendor, change)
    assert told in str(caught.value)


def test_no_source_is_refused(vendor: Vendor) -> None:
    with pytest.raises(VendorError, match="the source's struct is too short"):
        slots(vendor).call("compile", 0, ffi.NULL, ffi.new("dl_kernel_code_t**"))


class Launch:
    """A launch that runs, until one of its fields is changed."""

    def __init__(self, address: int) -> None:
        self.packed = ffi.new("uint64_t[2]", [address, 0])
        self.layout = ffi.new("dl_kernel_argument_t[]", [(0, 8, 1, 0)])
        self.raw = ffi.new("dl_kernel_launch_t*")
        self.raw.struct_size = ffi.sizeof("dl_kernel_launch_t")
        self.raw.grid = self.raw.block = (1, 1, 1)
        self.raw.arguments, self.raw.argument_bytes = self.packed, 8
        self.raw.layout, self.raw.argument_count = self.layout, 1


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (field("struct_size", 0), "the launch's struct is too short"),
        (field("struct_size", 71), "the launch's struct is too short"),
        (field("grid", (0, 1, 1)), "grid 0x1x1 or block 1x1x1 is empty or too large"),
        # The 32-bit representation of a negative number of blocks.
        (field("grid", (2**32 - 1,) * 3), "is empty or too large"),
        (field("block", (1, 0, 1)), "is empty or too large"),
        (field("shared_bytes", MOST), f"{MOST} shared bytes are more than the device's"),
        (field("argument_count", MOST), "arguments are more than the 256"),
        (field("layout", ffi.NULL), "1 arguments, but their address or layout is NULL"),
        (field("arguments", ffi.NULL), "1 arguments, but their address or layout is NULL"),
        (field("argument_bytes", 7), "argument 0 is not within the packed arguments"),
        (field("flags", 1), "the flags of a launch must be 0"),
        (lambda raw: field("offset", 2**32 - 1)(raw.layout[0]), "argument 0 is not within"),
        (lambda raw: field("size", 4)(raw.layout[0]), "argument 0 is not within"),
        (lambda raw: field("kind", 9)(raw.layout[0]), "is of an unknown kind"),
    ],
)
def test_a_wrong_launch_is_refused_and_runs_nothing(
    vendor: Vendor, change: Callable[[Any], None], told: str
) -> None:
    function = vendor.kernels.load(vendor.kernels.compile(SET)).function("set")
    out = vendor.tensor([1], "int32")
    wrong, right = Launch(out.address), Launch(out.address)
    change(wrong.raw)
    with pytest.raises(VendorError) as caught:
        slots(vendor).call("launch", 0, function._pointer, wrong.raw)
    assert told in str(caught.value) and out.numpy().tolist() == [1]
    slots(vendor).call("launch", 0, function._pointer, right.raw)
    assert out.numpy().tolist() == [7]


def test_handles_that_are_null_are_refused(vendor: Vendor) -> None:
    found, launch = ffi.new("void**"), Launch(0)
    calls: list[tuple[str, tuple[Any, ...], str]] = [
        ("load", (ffi.NULL, 8, found), "the code is NULL"),
        ("find", (ffi.NULL, ffi.new("char[]", b"set"), found), "the module or the name is NULL"),
        ("launch", (ffi.NULL, launch.raw), "the function is NULL; pass what find returned"),
        ("launch", (ffi.NULL, ffi.NULL), "the function is NULL; pass what find returned"),
    ]
    for slot, arguments, told in calls:
        with pytest.raises(VendorError) as caught:
            slots(vendor).call(slot, 0, *arguments)
        assert told in str(caught.value)


def test_devices_that_are_not_there_are_refused(vendor: Vendor) -> None:
    for device in (-1, 1, 1 << 20):
        with pytest.raises(ArgumentError, match=f"no device {device}"):
            vendor.kernels.compile(SET, device=device)
        with pytest.raises(VendorError, match=f"device {device} does not exist"):
            slots(vendor).call("load", device, ffi.new("char[]", b"x"), 1, ffi.new("void**"))


@pytest.mark.parametrize("option", ["-ffast-math", "-fno-math-errno", "-funroll-loops", "-O3"])
def test_options_that_choose_code_are_taken(vendor: Vendor, option: str) -> None:
    assert vendor.kernels.compile(SET, options=[option]).bytes


def test_an_argument_that_was_not_passed_fails_the_launch(vendor: Vendor) -> None:
    function = vendor.kernels.load(vendor.kernels.compile(SET)).function("set")
    with pytest.raises(
        VendorError, match="threw: argument 0 is missing: the launch did not pass it"
    ):
        function()

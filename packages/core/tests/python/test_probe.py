"""Examination of misbehaving libraries, built by the tests."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

import diopi_proto
from diopi_proto.descriptor import VendorDescriptor
from dl_core.probe import probe_vendor

HEAD = '#include <signal.h>\n#include <unistd.h>\n#include "dl/vendor.h"\n'


def build(folder: Path, source: str) -> VendorDescriptor:
    code = folder / "vendor.c"
    code.write_text(HEAD + source)
    library = folder / "libvendor.so"
    subprocess.run(
        [
            *("cc", "-shared", "-fPIC", "-fvisibility=hidden"),
            *("-I", str(diopi_proto.include_dir()), str(code), "-o", str(library)),
        ],
        check=True,
        timeout=120,
    )
    return VendorDescriptor("x", library, "1")


TABLE = """
static void destroy(dl_vendor_t* v) {}
static dl_status_t* count(dl_vendor_t* v, int32_t* n) { COUNT; return NULL; }
static dl_status_t* properties(dl_vendor_t* v, int32_t d, dl_device_properties_t* p) {
  p->name[0] = 'T'; p->total_memory = 1024; return NULL;
}
static dl_vendor_table_t table = {
  .struct_size = sizeof(dl_vendor_table_t), .name = "x", .version = "3.1", .destroy = destroy,
  .device_count = count, .device_properties = properties,
};
static dl_vendor_t instance = {&table};
dl_status_t* dl_vendor_v1(const dl_host_t* host, dl_vendor_t** out) {
  *out = &instance; return NULL;
}
"""


def test_a_working_library_is_described(tmp_path: Path) -> None:
    probe = probe_vendor(build(tmp_path, TABLE.replace("COUNT", "*n = 2")), 60)
    assert probe.error == ""
    assert (probe.abi, probe.version, probe.operators) == ("dl_vendor_v1", "3.1", 0)
    assert [(d.index, d.name, d.total_memory) for d in probe.devices] == [
        (0, "T", 1024),
        (1, "T", 1024),
    ]


NAMES = 'const char* const driver[] = {"libno_such_driver.so.7", "libc.so.6"};\n'


def test_a_missing_driver_is_named_unless_the_library_gives_a_reason(tmp_path: Path) -> None:
    absent = TABLE.replace("COUNT", "*n = driver[v == NULL] == NULL")
    probe = probe_vendor(build(tmp_path, NAMES + absent), 60)
    assert (probe.said, probe.missing_libraries) == ("", ["libno_such_driver.so.7"])
    logs = "static const dl_host_t* host_;\n" + absent.replace("COUNT", "")
    logs = logs.replace("*n = driver", 'host_->log(host_, DL_LOG_INFO, "unplugged"); *n = driver')
    probe = probe_vendor(build(tmp_path, NAMES + logs.replace("*out", "host_ = host; *out")), 60)
    assert (probe.said, probe.missing_libraries) == ("unplugged", [])
    present = TABLE.replace("COUNT", "*n = driver[v == NULL] != NULL")
    assert probe_vendor(build(tmp_path, NAMES + present), 60).missing_libraries == []


@pytest.mark.parametrize("noise", ['write(1, "noise\\n", 6)', 'write(1, "noise", 5)'])
def test_what_a_library_prints_does_no_harm(tmp_path: Path, noise: str) -> None:
    source = TABLE.replace("COUNT", f"(void)!{noise}; *n = 1")
    assert len(probe_vendor(build(tmp_path, source), 60).devices) == 1


def test_a_library_that_crashes_is_named_with_its_signal(tmp_path: Path) -> None:
    probe = probe_vendor(build(tmp_path, TABLE.replace("COUNT", "raise(SIGSEGV)")), 60)
    assert "SIGSEGV" in probe.error and probe.devices == []


def test_a_library_that_ends_the_process_is_reported(tmp_path: Path) -> None:
    probe = probe_vendor(build(tmp_path, TABLE.replace("COUNT", "_exit(7)")), 60)
    assert "status 7 while being asked how many devices it has" in probe.error


def test_a_library_that_hangs_is_given_up(tmp_path: Path) -> None:
    probe = probe_vendor(build(tmp_path, TABLE.replace("COUNT", "for (;;) pause()")), 3)
    assert "3 seconds" in probe.error and "DL_PROBE_TIMEOUT" in probe.error


def test_a_library_without_entry_is_reported(tmp_path: Path) -> None:
    probe = probe_vendor(build(tmp_path, "DL_EXPORT int other(void) { return 0; }"), 60)
    assert "dl_vendor_v1" in probe.error


def test_a_missing_library_is_reported() -> None:
    probe = probe_vendor(VendorDescriptor("x", Path("/nonexistent/libx.so"), "1"), 60)
    assert "/nonexistent/libx.so does not exist" in probe.error

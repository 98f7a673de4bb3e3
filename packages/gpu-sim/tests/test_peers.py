# ruff: noqa: E501 - declarations and programs are not wrapped.
"""Peer access between devices, and memory shared by processes."""

from __future__ import annotations

from pathlib import Path

from test_driver import run

DECLARED = '''
ffi.cdef("""
typedef struct { char reserved[64]; } IPC;
R cuDeviceCanAccessPeer(int*, int, int); R cuCtxEnablePeerAccess(H, unsigned); R cuCtxDisablePeerAccess(H);
R cuIpcGetMemHandle(IPC*, P); R cuIpcOpenMemHandle_v2(P*, IPC, unsigned); R cuIpcCloseMemHandle(P);
R cuFuncGetParamInfo(H, size_t, size_t*, size_t*);
""")
'''


def test_a_kernel_reaches_a_peer_while_access_is_enabled(tmp_path: Path) -> None:
    report = run(
        DECLARED
        + """
first = start(0)
assert new("int", cu.cuDeviceCanAccessPeer, 0, 1) == 1
assert new("int", cu.cuDeviceCanAccessPeer, 0, 0) == 0
p = new("P", cu.cuMemAlloc_v2, 16)
ok(cu.cuMemcpyHtoD_v2(p, ffi.new("float[]", [1, 2, 3, 4]), 16))
second = start(1)
ok(cu.cuCtxEnablePeerAccess(first, 0))
assert cu.cuCtxEnablePeerAccess(first, 0) == 704
assert cu.cuCtxEnablePeerAccess(second, 0) == 101
_, twice = load(TWICE)
ok(launch(twice, 1, 4, p))
ok(cu.cuCtxSynchronize())
assert floats(p, 4) == [2, 4, 6, 8]
ok(cu.cuCtxDisablePeerAccess(first))
assert cu.cuCtxDisablePeerAccess(first) == 705
ok(launch(twice, 1, 4, p))
assert cu.cuCtxSynchronize() == 700
""",
        tmp_path,
        devices="2",
    )
    assert [finding.kind for finding in report.findings] == ["out-of-bounds"]


def test_processes_share_memory(tmp_path: Path) -> None:
    run(
        DECLARED
        + """
import os
p = None
def child(handle):
    start()
    shared = ffi.new("IPC*")
    ffi.buffer(shared)[:] = handle
    q = new("P", cu.cuIpcOpenMemHandle_v2, shared[0], 1)
    assert floats(q, 4) == [1, 2, 3, 4]
    _, twice = load(TWICE)
    ok(launch(twice, 1, 4, q))
    ok(cu.cuCtxSynchronize())
    ok(cu.cuIpcCloseMemHandle(q))
    assert cu.cuIpcCloseMemHandle(q) == 1
# The driver starts no thread before both processes are there.
here, there = os.pipe(), os.pipe()
if os.fork() == 0:
    status = 1
    try:
        child(os.read(here[0], 64))
        status = 0
    finally:
        os.write(there[1], bytes([status]))
        os._exit(0)
start()
p = new("P", cu.cuMemAlloc_v2, 16)
ok(cu.cuMemcpyHtoD_v2(p, ffi.new("float[]", [1, 2, 3, 4]), 16))
handle = ffi.new("IPC*")
ok(cu.cuIpcGetMemHandle(handle, p))
assert cu.cuIpcOpenMemHandle_v2(ffi.new("P*"), handle[0], 1) == 201
os.write(here[1], bytes(ffi.buffer(handle)))
assert os.read(there[0], 1) == b"\\0"
assert floats(p, 4) == [2, 4, 6, 8]
""",
        tmp_path,
    )


def test_memory_that_is_gone_is_not_opened(tmp_path: Path) -> None:
    run(
        DECLARED
        + """
start()
assert cu.cuIpcOpenMemHandle_v2(ffi.new("P*"), ffi.new("IPC*")[0], 1) == 205
assert cu.cuIpcGetMemHandle(ffi.new("IPC*"), 1 << 62) == 1
""",
        tmp_path,
    )


def test_parameters_of_a_kernel_are_reported(tmp_path: Path) -> None:
    run(
        DECLARED
        + """
start()
_, twice = load(TWICE)
offset, size = ffi.new("size_t*"), ffi.new("size_t*")
ok(cu.cuFuncGetParamInfo(twice, 0, offset, size))
assert (offset[0], size[0]) == (0, 8)
assert cu.cuFuncGetParamInfo(twice, 1, offset, size) == 1
assert cu.cuGetExportTable(ffi.new("void **"), ffi.NULL) == 500
""",
        tmp_path,
    )

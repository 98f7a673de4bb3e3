# ruff: noqa: E501 - declarations and programs are not wrapped.
"""Driver calls in programs."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import HEADER, NVCC, kernel
from dl_gpu_sim.paths import library, library_dir
from dl_gpu_sim.report import Report

PRELUDE = '''
import sys
from cffi import FFI
ffi = FFI()
ffi.cdef("""
typedef int R; typedef unsigned long long P; typedef void* H;
R cuInit(unsigned); R cuDriverGetVersion(int*); R cuDeviceGetCount(int*); R cuDeviceGetAttribute(int*, int, int); R cuDeviceTotalMem_v2(size_t*, int);
R cuDevicePrimaryCtxRetain(H*, int); R cuCtxSetCurrent(H); R cuCtxGetCurrent(H*); R cuCtxSynchronize(void);
R cuMemAlloc_v2(P*, size_t); R cuMemFree_v2(P); R cuMemGetInfo_v2(size_t*, size_t*); R cuMemHostAlloc(void**, size_t, unsigned);
R cuMemFreeHost(void*); R cuMemcpyHtoD_v2(P, const void*, size_t); R cuMemcpyDtoH_v2(void*, P, size_t);
R cuMemcpyDtoHAsync_v2(void*, P, size_t, H); R cuMemcpyHtoDAsync_v2(P, const void*, size_t, H);
R cuMemsetD32Async(P, unsigned, size_t, H); R cuMemcpyPeer(P, H, P, H, size_t);
R cuStreamCreateWithPriority(H*, unsigned, int); R cuStreamSynchronize(H); R cuStreamQuery(H); R cuStreamDestroy_v2(H);
R cuStreamGetPriority(H, int*); R cuStreamWaitEvent(H, H, unsigned); R cuLaunchHostFunc(H, void (*)(void*), void*);
R cuEventCreate(H*, unsigned); R cuEventRecord(H, H); R cuEventSynchronize(H); R cuEventElapsedTime_v2(float*, H, H);
R cuModuleLoadData(H*, const void*); R cuModuleGetFunction(H*, H, const char*); R cuModuleGetGlobal_v2(P*, size_t*, H, const char*);
R cuLibraryLoadData(H*, const void*, void*, void*, unsigned, void*, void*, unsigned); R cuLibraryGetKernel(H*, H, const char*);
R cuKernelGetFunction(H*, H); R cuLibraryUnload(H); R cuFuncGetAttribute(int*, int, H); R cuFuncSetAttribute(H, int, int);
R cuOccupancyMaxActiveBlocksPerMultiprocessor(int*, H, int, size_t);
R cuLaunchKernel(H, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, H, void**, void**);
R cuStreamBeginCapture_v2(H, int); R cuStreamEndCapture(H, H*); R cuGraphInstantiateWithFlags(H*, H, unsigned long long);
R cuGraphLaunch(H, H); R cuGetProcAddress_v2(const char*, void**, int, unsigned long long, int*);
R cuGetErrorName(R, const char**); R cuPointerGetAttribute(void*, int, P); R cuEventQuery(H); R cuGetExportTable(const void**, const void*);
""")
cu = ffi.dlopen("libcuda.so.1")
def new(kind, call, *args):
    place = ffi.new(kind + "*")
    ok(call(place, *args))
    return place[0]
def ok(status):
    assert status == 0, status
def start(device=0):
    ok(cu.cuInit(0))
    context = new("H", cu.cuDevicePrimaryCtxRetain, device)
    ok(cu.cuCtxSetCurrent(context))
    return context
def load(text):
    module = new("H", cu.cuModuleLoadData, ffi.from_buffer(text.encode() + b"\\0"))
    return module, new("H", cu.cuModuleGetFunction, module, b"k")
def launch(function, grid, block, *values, stream=ffi.NULL):
    held = [ffi.new("P*", v) for v in values]
    return cu.cuLaunchKernel(function, grid, 1, 1, block, 1, 1, 0, stream, ffi.new("void*[]", held), ffi.NULL)
def floats(pointer, count):
    target = ffi.new("float[]", count)
    ok(cu.cuMemcpyDtoH_v2(target, pointer, 4 * count))
    return list(target)
'''

TWICE = kernel(
    "ld.param.u64 %rd1, [a]; mad.wide.u32 %rd1, %r0, 4, %rd1; ld.global.f32 %f1, [%rd1];"
    "add.f32 %f1, %f1, %f1; st.global.f32 [%rd1], %f1;"
)
PAST = kernel("ld.param.u64 %rd1, [a]; st.global.u32 [%rd1+64], %r0;")


def run(code: str, tmp_path: Path, status: int = 0, **settings: str) -> Report:
    """Run a program with the driver; return its report."""
    report = tmp_path / "report.json"
    environment = {
        **os.environ,
        "LD_LIBRARY_PATH": str(library_dir()),
        "DL_GPU_SIM_REPORT": str(report),
        **{f"DL_GPU_SIM_{name.upper()}": value for name, value in settings.items()},
    }
    program = f"{PRELUDE}\nTWICE = {TWICE!r}\nPAST = {PAST!r}\n{code}"
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == status, done.stderr
    return Report.read([report])


def test_a_launch(tmp_path: Path) -> None:
    report = run(
        """
start()
p = new("P", cu.cuMemAlloc_v2, 16)
ok(cu.cuMemcpyHtoD_v2(p, ffi.new("float[]", [1, 2, 3, 4]), 16))
module, k = load(TWICE)
ok(launch(k, 1, 4, p))
assert floats(p, 4) == [2, 4, 6, 8]
ok(cu.cuMemFree_v2(p))
assert cu.cuMemFree_v2(p) == 1
""",
        tmp_path,
    )
    assert report.findings == [] and report.launches == {"k": 1}
    assert report.calls["cuMemAlloc"] == 1 and report.synchronisations == 4


def test_devices_and_settings(tmp_path: Path) -> None:
    run(
        """
ok(cu.cuInit(0))
assert new("int", cu.cuDeviceGetCount) == 3
assert new("size_t", cu.cuDeviceTotalMem_v2, 0) == 64 << 20
assert new("int", cu.cuDriverGetVersion) == 12040
assert [new("int", cu.cuDeviceGetAttribute, x, 2) for x in (75, 76, 10)] == [9, 0, 32]
assert cu.cuDeviceGetAttribute(ffi.new("int*"), 10, 3) == 101
start(1)
p = new("P", cu.cuMemAlloc_v2, 60 << 20)
assert cu.cuMemAlloc_v2(ffi.new("P*"), 8 << 20) == 2
assert p >> 62 == 1
assert new("int", cu.cuPointerGetAttribute, 9, p) == 1
""",
        tmp_path,
        devices="3",
        memory="64M",
        capability="9.0",
        cuda="12.4",
    )


def test_no_device(tmp_path: Path) -> None:
    run("assert cu.cuInit(0) == 100", tmp_path, devices="0")


def test_calls_before_cuinit_and_without_context(tmp_path: Path) -> None:
    run(
        """
assert cu.cuDeviceGetCount(ffi.new("int*")) == 3
ok(cu.cuInit(0))
assert cu.cuMemAlloc_v2(ffi.new("P*"), 4) == 201
""",
        tmp_path,
    )


def test_failures_on_demand(tmp_path: Path) -> None:
    run(
        """
start()
assert [cu.cuMemAlloc_v2(ffi.new("P*"), 4) for i in range(4)] == [0, 0, 2, 0]
""",
        tmp_path,
        fail="cuMemAlloc:3",
    )


def test_a_wrong_kernel_is_sticky(tmp_path: Path) -> None:
    report = run(
        """
start()
p = new("P", cu.cuMemAlloc_v2, 64)
module, k = load(PAST)
ok(launch(k, 1, 1, p))
assert cu.cuCtxSynchronize() == 700
assert cu.cuMemAlloc_v2(ffi.new("P*"), 4) == 700
name = new("const char*", lambda to: cu.cuGetErrorName(700, to))
assert ffi.string(name) == b"CUDA_ERROR_ILLEGAL_ADDRESS"
""",
        tmp_path,
    )
    (finding,) = report.findings
    assert finding.kind == "out-of-bounds" and finding.kernel == "k"


@pytest.mark.parametrize(("strict", "error"), [("0", 0), ("1", 719)])
def test_what_a_card_survives_fails_where_that_is_asked_for(
    strict: str, error: int, tmp_path: Path
) -> None:
    report = run(
        f"""
start()
p = new("P", cu.cuMemAlloc_v2, 16)
module, k = load(TWICE)
ok(launch(k, 1, 4, p))
assert cu.cuCtxSynchronize() == {error}
assert launch(k, 1, 4, p) == {error}
""",
        tmp_path,
        strict=strict,
    )
    assert {x.kind for x in report.findings} == {"uninitialised"}


def test_launches_that_do_not_fit(tmp_path: Path) -> None:
    run(
        """
start()
p = new("P", cu.cuMemAlloc_v2, 64)
module, k = load(TWICE)
assert launch(k, 1, 1025, p) == 1
assert launch(k, 0, 1, p) == 1
assert launch(ffi.cast("H", 7), 1, 1, p) == 400
assert cu.cuModuleGetFunction(ffi.new("H*"), module, b"other") == 500
assert cu.cuModuleLoadData(ffi.new("H*"), ffi.from_buffer(b"no ptx\\0")) == 218
assert cu.cuModuleLoadData(ffi.new("H*"), ffi.from_buffer(b"\\x7fELF" + bytes(64))) == 209
assert cu.cuModuleLoadData(ffi.new("H*"), ffi.from_buffer(TWICE.replace("sm_80", "sm_90").encode() +
b"\\0")) == 209
""",
        tmp_path,
    )


def test_streams_events_and_host_functions(tmp_path: Path) -> None:
    run(
        """
start()
one, two = (new("H", cu.cuStreamCreateWithPriority, 1, p) for p in (0, -1))
assert new("int", lambda place: cu.cuStreamGetPriority(two, place)) == -1
p = new("P", cu.cuMemAlloc_v2, 16)
seen = []
@ffi.callback("void(void*)")
def note(data):
    seen.append(int(ffi.cast("intptr_t", data)))
module, k = load(TWICE)
begin, end = (new("H", cu.cuEventCreate, 0) for _ in range(2))
ok(cu.cuEventRecord(begin, one))
ok(cu.cuLaunchHostFunc(one, note, ffi.cast("void*", 1)))
ok(cu.cuMemsetD32Async(p, 0x3f800000, 4, one))
ok(cu.cuEventRecord(end, one))
ok(cu.cuStreamWaitEvent(two, end, 0))
ok(launch(k, 1, 4, p, stream=two))
ok(cu.cuLaunchHostFunc(two, note, ffi.cast("void*", 2)))
ok(cu.cuStreamSynchronize(two))
assert floats(p, 4) == [2, 2, 2, 2] and seen == [1, 2]
assert new("float", cu.cuEventElapsedTime_v2, begin, end) >= 0
ok(cu.cuStreamQuery(two))
ok(cu.cuStreamDestroy_v2(one))
assert cu.cuStreamSynchronize(one) == 400
""",
        tmp_path,
    )


def test_who_waited_for_the_last_event_finds_the_stream_idle(tmp_path: Path) -> None:
    """Repeated, because the event may be seen as complete before its stream is idle."""
    run(
        """
start()
stream, event = new("H", cu.cuStreamCreateWithPriority, 1, 0), new("H", cu.cuEventCreate, 0)
for _ in range(3000):
    ok(cu.cuEventRecord(event, stream))
    ok(cu.cuEventSynchronize(event))
    ok(cu.cuStreamQuery(stream))
""",
        tmp_path,
    )


def test_launches_that_overlap_are_told_apart(tmp_path: Path) -> None:
    """A launch is not taken for an earlier launch that overlapped with a third launch."""
    place = "ld.param.u64 %rd1, [a]; mov.u32 %r1, %ctaid.x; mad.lo.u32 %r1, %r1, 32, %r0;"
    writing = kernel(f"{place} mad.wide.u32 %rd1, %r1, 4, %rd1; st.global.u32 [%rd1], %r1;")
    # Each thread reads what another block has written.
    mirrored = kernel(
        f"{place} mad.wide.u32 %rd2, %r1, 4, %rd1; sub.u32 %r2, 2047, %r1;"
        "mad.wide.u32 %rd1, %r2, 4, %rd1; ld.global.u32 %r3, [%rd1]; st.global.u32 [%rd2+8192], %r3;"
    )
    # One thread says that it runs, and waits for an answer.
    waiting = kernel(
        "ld.param.u64 %rd1, [a]; mov.u32 %r1, 1; st.volatile.global.u32 [%rd1+16384], %r1;\n"
        "again: ld.volatile.global.u32 %r1, [%rd1+16388]; setp.eq.u32 %p1, %r1, 0;\n@%p1 bra again;"
    )
    report = run(
        f"""
start()
one, two = (new("H", cu.cuStreamCreateWithPriority, 1, 0) for _ in range(2))
p = new("P", cu.cuMemAlloc_v2, 16392)
ok(cu.cuMemsetD32Async(p + 16384, 0, 2, one))
ok(cu.cuStreamSynchronize(one))
(_, writing), (_, mirrored), (_, waiting) = map(load, {[writing, mirrored, waiting]!r})
ok(launch(waiting, 1, 1, p, stream=two))
target = ffi.new("unsigned[]", 2048)
while target[0] == 0:
    ok(cu.cuMemcpyDtoHAsync_v2(target, p + 16384, 4, one))
    ok(cu.cuStreamSynchronize(one))
ok(launch(writing, 64, 32, p, stream=one))
ok(cu.cuMemsetD32Async(p + 16388, 1, 1, one))
ok(cu.cuCtxSynchronize())
ok(launch(mirrored, 64, 32, p, stream=one))
ok(cu.cuCtxSynchronize())
ok(cu.cuMemcpyDtoH_v2(target, p + 8192, 8192))
assert list(target) == list(range(2047, -1, -1))
""",
        tmp_path,
    )
    assert report.findings == []


def test_a_missing_wait_shows(tmp_path: Path) -> None:
    """Work enqueued after a host function has not run while the function waits."""
    run(
        """
import threading
start()
stream = new("H", cu.cuStreamCreateWithPriority, 1, 0)
p = new("P", cu.cuMemAlloc_v2, 4)
host = ffi.cast("unsigned*", new("void*", cu.cuMemHostAlloc, 4, 0))
host[0] = 7
go = threading.Event()
@ffi.callback("void(void*)")
def wait(data):
    go.wait()
ok(cu.cuLaunchHostFunc(stream, wait, ffi.NULL))
ok(cu.cuMemsetD32Async(p, 9, 1, stream))
ok(cu.cuMemcpyDtoHAsync_v2(host, p, 4, stream))
assert host[0] == 7 and cu.cuStreamQuery(stream) == 600
go.set()
ok(cu.cuStreamSynchronize(stream))
assert host[0] == 9
""",
        tmp_path,
    )


def test_waits_of_the_host_are_counted(tmp_path: Path) -> None:
    report = run(
        """
from dl_gpu_sim import waits
start()
p = new("P", cu.cuMemAlloc_v2, 64)
pinned = ffi.cast("float*", new("void*", cu.cuMemHostAlloc, 64, 0))
module, k = load(TWICE)
stream, event = new("H", cu.cuStreamCreateWithPriority, 1, 0), new("H", cu.cuEventCreate, 2)
ok(cu.cuMemcpyHtoDAsync_v2(p, pinned, 64, stream))
ok(launch(k, 1, 4, p, stream=stream))
ok(cu.cuMemcpyDtoHAsync_v2(pinned, p, 64, stream))
ok(cu.cuEventRecord(event, stream))
assert waits() == {}, waits()
# Not pinned: the copy has to be done when it returns.
ok(cu.cuMemcpyDtoHAsync_v2(ffi.new("float[]", 16), p, 64, stream))
assert waits() == {"cuMemcpyDtoHAsync": 1}
for call, argument in ((cu.cuStreamSynchronize, stream), (cu.cuEventSynchronize, event)):
    ok(call(argument))
ok(cu.cuCtxSynchronize())
ok(cu.cuMemFree_v2(p))
@ffi.callback("void(void*)")
def pause(_):
    while go == []: pass
go = []
ok(cu.cuLaunchHostFunc(stream, pause, ffi.NULL))
ok(cu.cuEventRecord(event, stream))
assert [cu.cuStreamQuery(stream), cu.cuEventQuery(event)] == [600, 600]
go.append(1)
ok(cu.cuStreamSynchronize(stream))
assert [cu.cuStreamQuery(stream), cu.cuEventQuery(event)] == [0, 0]
""",
        tmp_path,
    )
    assert report.waits == {
        "cuCtxSynchronize": 1,
        "cuEventSynchronize": 1,
        "cuMemFree": 1,
        "cuMemcpyDtoHAsync": 1,
        "cuStreamSynchronize": 2,
    }
    assert report.synchronisations == sum(report.waits.values()) and report.polls == 2


def test_what_the_runtime_library_asks_for_is_refused_in_words(tmp_path: Path) -> None:
    report = run(
        """
table = ffi.new("const void**")
for _ in range(2):
    assert cu.cuGetExportTable(table, ffi.new("char[16]")) == 500 and table[0] == ffi.NULL
""",
        tmp_path,
    )
    (message,) = report.messages
    assert "cudart" in message and "not supported" in message


def test_libraries_and_attributes(tmp_path: Path) -> None:
    text = kernel(
        "ld.global.u32 %r1, [g]; add.u32 %r1, %r1, 1; st.global.u32 [g], %r1;",
        "",
        ".global .align 4 .u32 g = 41;",
    ).replace(".target sm_80", ".target sm_75")
    run(
        f"""
start(1)
text = ffi.from_buffer({text!r}.encode() + b"\\0")
library = new("H", cu.cuLibraryLoadData, text, ffi.NULL, ffi.NULL, 0, ffi.NULL, ffi.NULL, 0)
kernel = new("H", cu.cuLibraryGetKernel, library, b"k")
ok(cu.cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, ffi.NULL, ffi.NULL, ffi.NULL))
function = new("H", cu.cuKernelGetFunction, kernel)
assert new("int", cu.cuFuncGetAttribute, 0, function) == 1024
assert new("int", cu.cuFuncGetAttribute, 5, function) == 75
assert new("int", cu.cuFuncGetAttribute, 6, function) == 80
assert cu.cuFuncSetAttribute(function, 8, 100000) == 0
assert cu.cuFuncSetAttribute(function, 8, 1000000) == 1
assert new("int", cu.cuOccupancyMaxActiveBlocksPerMultiprocessor, function, 256, 0) == 8
ok(cu.cuCtxSynchronize())
ok(cu.cuLibraryUnload(library))
assert cu.cuLibraryUnload(library) == 400
found = new("void*", lambda place: cu.cuGetProcAddress_v2(b"cuMemAlloc", place, 13000, 0, ffi.NULL))
assert found == ffi.cast("void*", ffi.addressof(cu, "cuMemAlloc_v2"))
assert cu.cuGetProcAddress_v2(b"cuNothing", ffi.new("void**"), 13000, 0, ffi.NULL) == 500
""",
        tmp_path,
        devices="2",
    )


def test_captures_and_graphs(tmp_path: Path) -> None:
    run(
        """
start()
one, two = (new("H", cu.cuStreamCreateWithPriority, 1, 0) for _ in range(2))
p = new("P", cu.cuMemAlloc_v2, 4)
ok(cu.cuMemcpyHtoD_v2(p, ffi.new("float[]", [1]), 4))
module, k = load(TWICE)
event = new("H", cu.cuEventCreate, 0)
ok(cu.cuStreamBeginCapture_v2(one, 0))
ok(launch(k, 1, 1, p, stream=one))
ok(cu.cuEventRecord(event, one))
ok(cu.cuStreamWaitEvent(two, event, 0))
ok(launch(k, 1, 1, p, stream=two))
graph = new("H", lambda place: cu.cuStreamEndCapture(one, place))
assert floats(p, 1) == [1]
executable = new("H", cu.cuGraphInstantiateWithFlags, graph, 0)
for want in (4, 16):
    ok(cu.cuGraphLaunch(executable, one))
    ok(cu.cuStreamSynchronize(one))
    assert floats(p, 1) == [want]
ok(cu.cuStreamBeginCapture_v2(one, 0))
assert cu.cuStreamSynchronize(one) == 900
assert cu.cuStreamEndCapture(one, ffi.new("H*")) == 901
""",
        tmp_path,
    )


def test_copies_between_devices(tmp_path: Path) -> None:
    run(
        """
first = start(0)
p = new("P", cu.cuMemAlloc_v2, 4)
ok(cu.cuMemcpyHtoD_v2(p, ffi.new("float[]", [5]), 4))
second = start(1)
q = new("P", cu.cuMemAlloc_v2, 4)
ok(cu.cuMemcpyPeer(q, second, p, first, 4))
assert floats(q, 1) == [5]
assert cu.cuMemcpyDtoH_v2(ffi.new("char[]", 8), q, 8) == 1
""",
        tmp_path,
        devices="2",
    )


def test_the_command(tmp_path: Path) -> None:
    def command(*arguments: str) -> subprocess.CompletedProcess[str]:
        line = [sys.executable, "-m", "dl_gpu_sim", *arguments]
        return subprocess.run(line, capture_output=True, text=True, check=False)

    program = f"{PRELUDE}\nstart()\np = new('P', cu.cuMemAlloc_v2, 64)\n_, k = load(sys.argv[1])\nok(launch(k, 1, 16, p + {{}}))\ncu.cuCtxSynchronize()"
    right = program.replace("ok(launch", "ok(cu.cuMemsetD32Async(p, 0, 16, ffi.NULL))\nok(launch")
    python = (sys.executable, "-c")
    done = command("--", *python, right.replace("{}", "0"), TWICE)
    assert done.returncode == 0 and "1 launches of 1 kernels" in done.stderr
    done = command("--", *python, right.replace("{}", "4"), TWICE)
    assert done.returncode == 3 and "[out-of-bounds]" in done.stderr
    assert command("--", *python, "import sys; sys.exit(9)").returncode == 9
    assert command().returncode == 2 and command("--").returncode == 2
    assert command("--", "./no-such-program").returncode == 127
    path = tmp_path / "k.ptx"
    path.write_text(TWICE)
    done = command(str(path))
    assert done.returncode == 0 and "1 kernels, 0 instructions" in done.stdout
    path.write_text(kernel("tex.magic %r1;"))
    done = command(str(path))
    assert done.returncode == 1 and "not supported: line 10: tex.magic" in done.stdout
    path.write_text("nothing")
    assert command(str(path)).returncode == 2


def test_importing_the_plugin_is_cheap() -> None:
    code = "import sys, dl_gpu_sim.plugin; assert not {'numpy', 'cffi', 'torch', 'dl_core'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def headers() -> list[Path]:
    """Return the folders that may contain the toolkit's cuda.h."""
    found = []
    if NVCC is not None:
        found += [
            *Path(NVCC).resolve().parents[1].glob("include"),
            *Path("/usr/local").glob("cuda*/include"),
        ]
    for folder in map(Path, sys.path):
        found += folder.glob("nvidia/*/include")
    return [each for each in found if (each / "cuda.h").exists()]


SOURCES = Path(__file__).parents[1] / "csrc" / "driver"


@pytest.mark.skipif(not headers(), reason="the toolkit's cuda.h was not found")
def test_declarations_are_those_of_the_toolkit(tmp_path: Path) -> None:
    """Every call compiles with the real header, and our constants have the same values there."""
    include = f"-I{headers()[0]}"
    unit = tmp_path / "all.cpp"
    lines = []
    for path in sorted(SOURCES.glob("calls_*.cpp")):
        lines.append(f'namespace n_{path.stem} {{}}\n#include "{path}"')
    numbers = []
    for line in (
        (SOURCES / "cuda_api.h").read_text().replace("{", "\n").replace(",", "\n").splitlines()
    ):
        name, equals, number = line.strip().partition(" = ")
        if name.startswith("CU_") and equals:
            numbers.append((name, number.rstrip(" }").split("}")[0]))
    errors = (SOURCES / "errors.inc").read_text()
    numbers += re.findall(r"X\(\s*(CUDA_\w+),\s*(\d+)", errors)
    assert len(numbers) > 100
    checks = "\n".join(f'static_assert({name} == {number}, "{name}");' for name, number in numbers)
    unit.write_text(f"#include <cuda.h>\n{checks}\n")
    flags = ["g++", "-std=c++17", "-fsyntax-only", "-DDL_GPU_SIM_REAL_HEADER", include]
    for path in [unit, *sorted(SOURCES.glob("calls_*.cpp"))]:
        done = subprocess.run([*flags, str(path)], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    unit.write_text(f'#include <cuda.h>\nstatic_assert({numbers[0][0]} == 12345, "");\n')
    assert subprocess.run([*flags, str(unit)], capture_output=True, check=False).returncode != 0


def test_the_report_is_json(tmp_path: Path) -> None:
    run("start()", tmp_path)
    record = json.loads((tmp_path / "report.json").read_text())
    assert record["findings"] == [] and record["calls"]["cuInit"] == 1
    assert library().name == "libcuda.so.1" and HEADER

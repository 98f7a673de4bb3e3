"""Tests of kernels: compilation by the host's compiler, caching, loading, launches, and rejected
arguments.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import support
from diopi_proto import ArgumentError, UnavailableError, Vendor, VendorError, load_vendor

SCALE = """
#include "dl_cpu_kernel.h"
DL_CPU_KERNEL(scale) {
  float* data = dl_cpu_argument<float*>(arguments, 0);
  const float factor = dl_cpu_argument<float>(arguments, 1);
  const int64_t count = dl_cpu_argument<int64_t>(arguments, 2);
  const int64_t threads = block->block[0], first = block->index[0] * threads;
  for (int64_t i = first; i < count && i < first + threads; ++i) data[i] *= factor;
}
"""
CONSTANT = """
#include "dl_cpu_kernel.h"
DL_CPU_KERNEL(constant) { *dl_cpu_argument<int32_t*>(arguments, 0) = VALUE; }
"""

pytestmark = pytest.mark.skipif(
    not any(map(shutil.which, ("c++", "g++", "clang++"))), reason="needs a C++ compiler"
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The cache folder, for this test only."""
    folder = tmp_path / "kernels"
    monkeypatch.setenv("DL_CPU_KERNEL_CACHE", str(folder))
    return folder


@pytest.fixture
def vendor(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Vendor]:
    monkeypatch.setenv("DL_CPU_DEVICES", "2")
    with load_vendor(support.tested_library()) as opened:
        yield opened


def entries(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.kernel"))


def run_constant(vendor: Vendor, value: int, source: str = CONSTANT) -> int:
    code = vendor.kernels.compile(source, options=[f"-DVALUE={value}"])
    out = vendor.empty((1,), "int32")
    vendor.kernels.load(code).function("constant")(out)
    return int(out.numpy()[0])


def test_properties_say_what_compiles(vendor: Vendor) -> None:
    assert "kernel" in vendor.extensions
    found = vendor.kernels.properties(1)
    assert found.languages == ("c++",)
    assert os.access(found.compiler, os.X_OK) and not found.unavailable
    assert found.warp_size == 1 and found.max_shared_bytes > 1 << 16
    with pytest.raises(ArgumentError, match="no device 2"):
        vendor.kernels.properties(2)


def test_a_kernel_runs_once_for_each_block(vendor: Vendor) -> None:
    code = vendor.kernels.compile(SCALE, name="scale.cpp")
    assert not code.cached and code.log == ""
    scale = vendor.kernels.load(code).function("scale")
    data = vendor.tensor(np.arange(1000, dtype=np.float32))
    scale(data, np.float32(3), 999, grid=10, block=100)
    expected = 3 * np.arange(1000, dtype=np.float32)
    expected[999] = 999
    assert np.array_equal(data.numpy(), expected)


def test_blocks_are_numbered_in_three_dimensions(vendor: Vendor) -> None:
    source = """
    #include "dl_cpu_kernel.h"
    DL_CPU_KERNEL(number) {
      const uint32_t* at = block->index;
      const uint32_t* grid = block->grid;
      dl_cpu_argument<int32_t*>(arguments, 0)[(at[2] * grid[1] + at[1]) * grid[0] + at[0]] =
          int32_t(at[0] + 10 * at[1] + 100 * at[2]);
    }
    """
    out = vendor.empty((4, 3, 2), "int32", device=1)
    kernels = vendor.kernels
    kernels.load(kernels.compile(source, device=1), 1).function("number")(out, grid=(2, 3, 4))
    z, y, x = np.indices((4, 3, 2))
    assert np.array_equal(out.numpy(), x + 10 * y + 100 * z)


def test_arguments_have_the_layout_of_c(vendor: Vendor) -> None:
    source = """
    #include "dl_cpu_kernel.h"
    DL_CPU_KERNEL(gather) {
      double* out = dl_cpu_argument<double*>(arguments, 0);
      out[0] = dl_cpu_argument<int8_t>(arguments, 1);
      out[1] = dl_cpu_argument<double>(arguments, 2);
      out[2] = dl_cpu_argument<bool>(arguments, 3);
      out[3] = dl_cpu_argument<int64_t>(arguments, 4);
      out[4] = dl_cpu_argument<void*>(arguments, 5) == nullptr;
      out[5] = dl_cpu_argument<uint16_t>(arguments, 6);
      out[6] = double(block->argument_count);
      for (int i = 0; i < 7; ++i) {
        const int sizes[] = {8, 1, 8, 1, 8, 8, 2};
        if (reinterpret_cast<uintptr_t>(arguments[i]) % sizes[i] != 0) out[6] = -i;
      }
    }
    """
    out = vendor.empty((7,), "float64")
    gather = vendor.kernels.load(vendor.kernels.compile(source)).function("gather")
    gather(out, np.int8(-3), 2.5, True, 1 << 40, None, np.uint16(65535))
    assert out.numpy().tolist() == [-3, 2.5, 1, 1 << 40, 1, 65535, 7]
    for wrong in ("text", 1 << 63, np.array([1]), object()):
        with pytest.raises(ArgumentError, match="argument 1 is"):
            gather(out, wrong)


def test_a_block_has_shared_memory_of_its_own(vendor: Vendor) -> None:
    source = """
    #include "dl_cpu_kernel.h"
    DL_CPU_KERNEL(use) {
      auto* mine = static_cast<int32_t*>(block->shared);
      const int32_t count = int32_t(block->shared_bytes / 4), me = int32_t(block->index[0]);
      for (int32_t i = 0; i < count; ++i) mine[i] = me;
      int32_t same = 0;
      for (int32_t i = 0; i < count; ++i) same += mine[i] == me;
      const bool aligned = reinterpret_cast<uintptr_t>(mine) % 64 == 0;
      dl_cpu_argument<int32_t*>(arguments, 0)[me] = aligned ? same : -1;
    }
    """
    out = vendor.empty((64,), "int32")
    use = vendor.kernels.load(vendor.kernels.compile(source)).function("use")
    use(out, grid=64, shared_bytes=4000)
    assert set(out.numpy()) == {1000}
    with pytest.raises(VendorError, match="shared bytes are more than the device's"):
        use(out, grid=64, shared_bytes=1 << 40)


def test_a_grid_that_is_empty_or_too_large_is_refused(vendor: Vendor) -> None:
    scale = vendor.kernels.load(vendor.kernels.compile(SCALE)).function("scale")
    data = vendor.tensor(np.ones(4, np.float32))
    for grid in (0, (1, 0), (1, 2, 3, 4), -1, 1 << 32):
        with pytest.raises(ArgumentError, match="grid="):
            scale(data, np.float32(2), 4, grid=grid)
    most = (1 << 32) - 1
    for sizes in ({"grid": (most, most, most)}, {"block": (most, 2)}):
        with pytest.raises(VendorError, match="is empty or too large"):
            scale(data, np.float32(2), 4, **sizes)
    assert data.numpy().tolist() == [1] * 4


def test_tensors_of_another_device_are_refused(vendor: Vendor) -> None:
    scale = vendor.kernels.load(vendor.kernels.compile(SCALE)).function("scale")
    elsewhere = vendor.tensor(np.ones(4, np.float32), device=1)
    with pytest.raises(ArgumentError, match="is not on device 0 of cpu"):
        scale(elsewhere, np.float32(2), 4)


def test_an_exception_of_a_kernel_is_an_error(vendor: Vendor) -> None:
    source = """
    #include <stdexcept>
    #include "dl_cpu_kernel.h"
    DL_CPU_KERNEL(thrower) { if (block->index[0] == 3) throw std::runtime_error("three"); }
    """
    thrower = vendor.kernels.load(vendor.kernels.compile(source)).function("thrower")
    thrower(grid=3)
    with pytest.raises(VendorError, match="kernel 'thrower' threw: three"):
        thrower(grid=8)


def test_compile_errors_are_reported_with_the_compilers_log(vendor: Vendor) -> None:
    with pytest.raises(VendorError, match=r"bad\.cpp does not compile") as caught:
        vendor.kernels.compile("int x = ;\nint y = z;\n", name="bad.cpp")
    lines = caught.value.details.splitlines()
    assert any(line.startswith("bad.cpp:1:") for line in lines)
    assert any(line.startswith("bad.cpp:2:") for line in lines)
    assert caught.value.details in str(caught.value)


def test_warnings_are_kept_with_the_code(vendor: Vendor) -> None:
    source = CONSTANT + "int unused() { int x; return 3; }\n"
    options = ["-DVALUE=1", "-Wall"]
    first = vendor.kernels.compile(source, options=options)
    second = vendor.kernels.compile(source, options=options)
    assert "unused variable" in first.log
    assert (second.log, second.bytes, second.cached) == (first.log, first.bytes, True)


@pytest.mark.parametrize(
    "option",
    [
        *("-o/tmp/x", "-fplugin=/tmp/x.so", "-fdump-tree-all=/tmp/x", "-Wl,-rpath,/tmp", "@file"),
        *("-wrapper", "-B/tmp", "-specs=x", "-I.", "-include", "x.cpp", "", "-fprofile-generate"),
        *("-fmodule-mapper=|sh", "-Wp,-MD,/tmp/x", "-mllvm", "-save-temps", "-D", "-l", "-E"),
        *("-fcompare-debug=-wrapper /tmp/x", "-fcompare-debug", "-fsyntax-only", "-ftree-x=/tmp/x"),
        *("-fno-profile-generate", "-fsanitize-blacklist=x", "-Wa,-x", "-m", "-mllvm=x", "-std="),
    ],
)
def test_options_that_do_more_than_choose_code_are_refused(vendor: Vendor, option: str) -> None:
    with pytest.raises(VendorError, match="is rejected; allowed: "):
        vendor.kernels.compile(SCALE, options=[option])


def test_a_folder_for_headers_must_be_trusted(vendor: Vendor, tmp_path: Path) -> None:
    (tmp_path / "value.h").write_text("#define VALUE 42\n")
    source = '#include "value.h"\n' + CONSTANT
    option = f"-I{tmp_path}"
    code = vendor.kernels.compile(source, options=[option])
    out = vendor.empty((1,), "int32")
    vendor.kernels.load(code).function("constant")(out)
    assert out.numpy().tolist() == [42]
    tmp_path.chmod(0o777)
    try:
        with pytest.raises(VendorError, match="is rejected"):
            vendor.kernels.compile(source, options=[option])
    finally:
        tmp_path.chmod(0o700)


def test_headers_are_given_by_name(vendor: Vendor) -> None:
    source = '#include "deep/value.h"\n' + CONSTANT
    for value in (7, 8):
        code = vendor.kernels.compile(source, headers={"deep/value.h": f"#define VALUE {value}\n"})
        assert not code.cached
        out = vendor.empty((1,), "int32")
        vendor.kernels.load(code).function("constant")(out)
        assert out.numpy().tolist() == [value]
    for name in ("../value.h", "/etc/value.h", "a/../../b.h", "", "a b.h"):
        with pytest.raises(VendorError, match="is not the name of a header"):
            vendor.kernels.compile(SCALE, headers={name: ""})


def test_a_compiler_that_takes_too_long_is_stopped(vendor: Vendor) -> None:
    endless = """
    template <unsigned long n> struct Tree {
      static constexpr unsigned long size = Tree<n - 1>::size + Tree<(n * 7 + 3) % 100000>::size;
    };
    constexpr unsigned long work() {
      unsigned long sum = 0;
      for (unsigned long i = 0; i < 1ul << 40; ++i) sum += i * i;
      return sum;
    }
    static_assert(work() != 0);
    """
    options = ["-fconstexpr-ops-limit=99999999999", "-fconstexpr-loop-limit=2147483647"]
    with pytest.raises(VendorError, match=r"the compiler was stopped after 0\.5 seconds"):
        vendor.kernels.compile(endless, options=options, seconds=0.5)
    for wrong in (-1.0, float("nan"), 1e9):
        with pytest.raises(VendorError, match="seconds for the compiler"):
            vendor.kernels.compile(SCALE, seconds=wrong)


def test_functions_say_what_they_need(vendor: Vendor) -> None:
    source = """
    #include "dl_cpu_kernel.h"
    DL_CPU_KERNEL(large) {
      volatile char room[5000];
      for (int i = 0; i < 5000; ++i) room[i] = char(i);
      *dl_cpu_argument<int32_t*>(arguments, 0) = room[4999];
    }
    DL_CPU_KERNEL(small) {}
    """
    module = vendor.kernels.load(vendor.kernels.compile(source))
    large, small = module.function("large").properties, module.function("small").properties
    assert large.local_bytes is not None and small.local_bytes is not None
    assert 5600 > large.local_bytes >= 4500 > small.local_bytes
    assert large.code_bytes is not None and small.code_bytes is not None
    assert large.code_bytes > small.code_bytes > 0
    assert large.registers is None and large.spill_bytes is None


@pytest.mark.parametrize("name", ["nothing", "", "dl_cpu_kernel_scale", "memcpy", "a b", "x" * 300])
def test_only_kernels_are_found(vendor: Vendor, name: str) -> None:
    module = vendor.kernels.load(vendor.kernels.compile(SCALE))
    with pytest.raises(VendorError, match="the code has no kernel"):
        module.function(name)


def test_bytes_that_it_did_not_make_are_refused(vendor: Vendor) -> None:
    good = vendor.kernels.compile(SCALE).bytes
    for bad in (b"x", b"x" * 5000, good[:-1], good[:-40], b""):
        with pytest.raises(VendorError, match="not code that this vendor has compiled"):
            vendor.kernels.load(bad)
    architecture = vendor.kernels.properties().architecture.encode()
    assert good.count(architecture + b"\n") == 1
    other = good.replace(architecture + b"\n", b"z" * len(architecture) + b"\n")
    with pytest.raises(VendorError, match=r"was compiled for z+, and this library is"):
        vendor.kernels.load(other)
    with pytest.raises(VendorError, match="the code cannot be loaded"):
        vendor.kernels.load(bytes(64) + good[good.index(architecture + b"\n") :])


def test_modules_that_follow_each_other_are_not_mixed_up(vendor: Vendor) -> None:
    """The loader identifies a library by its path, and the descriptor in it is reused."""
    for value in range(5):
        assert run_constant(vendor, value) == value
    kept = [vendor.kernels.compile(CONSTANT, options=[f"-DVALUE={v}"]) for v in range(5)]
    assert all(code.cached for code in kept)
    functions = [vendor.kernels.load(code).function("constant") for code in kept]
    out = vendor.empty((1,), "int32")
    for value in (3, 0, 4, 1, 2):
        functions[value](out)
        assert out.numpy().tolist() == [value]


def test_a_module_that_cannot_be_unloaded_is_not_mixed_up_either(vendor: Vendor) -> None:
    source = """
    #include <string>
    #include "dl_cpu_kernel.h"
    static thread_local std::string text = "a text that is too long for the string itself";
    DL_CPU_KERNEL(constant) {
      text += 'x';
      *dl_cpu_argument<int32_t*>(arguments, 0) = VALUE;
    }
    """
    for value in range(3):
        assert run_constant(vendor, value, source) == value


# Caching.


def test_a_source_is_compiled_once(vendor: Vendor, folder: Path) -> None:
    first, second = vendor.kernels.compile(SCALE), vendor.kernels.compile(SCALE)
    assert (first.cached, second.cached) == (False, True)
    assert first.bytes == second.bytes
    (entry,) = entries(folder)
    assert folder.stat().st_mode & 0o777 == 0o700
    assert entry.stat().st_mode & 0o777 == 0o600


def test_all_that_matters_is_part_of_the_key(vendor: Vendor, folder: Path) -> None:
    compile_kernel = vendor.kernels.compile
    compile_kernel(SCALE)
    compile_kernel(SCALE + "\n")
    compile_kernel(SCALE, options=["-DA", "-DB"])
    compile_kernel(SCALE, options=["-DB", "-DA"])
    compile_kernel(SCALE, options=["-DA-DB"])
    compile_kernel(SCALE, name="another.cpp")
    compile_kernel(SCALE, headers={"unused.h": ""})
    assert len(entries(folder)) == 7


def test_a_file_that_was_included_and_changed_is_noticed(vendor: Vendor, tmp_path: Path) -> None:
    header = tmp_path / "value.h"
    source = '#include "value.h"\n' + CONSTANT
    values = []
    for value in (1, 1, 23):
        if header.exists() is False or header.read_text() != f"#define VALUE {value}\n":
            header.write_text(f"#define VALUE {value}\n")
        code = vendor.kernels.compile(source, options=[f"-I{tmp_path}"])
        out = vendor.empty((1,), "int32")
        vendor.kernels.load(code).function("constant")(out)
        values.append((int(out.numpy()[0]), code.cached))
    assert values == [(1, False), (1, True), (23, False)]


@pytest.mark.parametrize("damage", ["flipped", "short", "empty", "another", "link", "pipe"])
def test_a_damaged_or_swapped_entry_is_refused(
    vendor: Vendor, folder: Path, damage: str, caplog: pytest.LogCaptureFixture
) -> None:
    good = vendor.kernels.compile(CONSTANT, options=["-DVALUE=1"])
    (entry,) = entries(folder)
    content = bytearray(entry.read_bytes())
    if damage == "flipped":
        content[len(content) // 2] ^= 1
        entry.write_bytes(content)
    elif damage == "short":
        entry.write_bytes(content[:-1])
    elif damage == "empty":
        entry.write_bytes(b"")
    elif damage == "another":
        vendor.kernels.compile(CONSTANT, options=["-DVALUE=2"])
        (other,) = set(entries(folder)) - {entry}
        other.replace(entry)
    elif damage == "link":
        entry.rename(folder / "elsewhere")
        entry.symlink_to(folder / "elsewhere")
    else:
        entry.unlink()
        os.mkfifo(entry)
    again = vendor.kernels.compile(CONSTANT, options=["-DVALUE=1"])
    assert not again.cached and again.bytes == good.bytes
    assert "it is not used" in caplog.text
    assert vendor.kernels.compile(CONSTANT, options=["-DVALUE=1"]).cached, "it was replaced"


def test_the_code_of_a_swapped_entry_does_not_run(vendor: Vendor, folder: Path) -> None:
    """The swapped code computes another constant; only the check of the entry detects that."""
    assert run_constant(vendor, 1) == 1
    (entry,) = entries(folder)
    assert run_constant(vendor, 2) == 2
    (other,) = set(entries(folder)) - {entry}
    poison = vendor.kernels.compile(CONSTANT, options=["-DVALUE=2"])
    other.replace(entry)
    assert run_constant(vendor, 1) == 1
    out = vendor.empty((1,), "int32")
    vendor.kernels.load(poison).function("constant")(out)
    assert out.numpy().tolist() == [2]


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_an_entry_that_others_can_write_is_refused(
    vendor: Vendor, folder: Path, mode: int, caplog: pytest.LogCaptureFixture
) -> None:
    vendor.kernels.compile(SCALE)
    entries(folder)[0].chmod(mode)
    assert not vendor.kernels.compile(SCALE).cached
    assert "is writable by others: it is not used" in caplog.text


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_an_entry_of_another_user_is_refused(
    vendor: Vendor, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    vendor.kernels.compile(SCALE)
    os.chown(entries(folder)[0], 12345, -1)
    assert not vendor.kernels.compile(SCALE).cached
    assert "belongs to user 12345: it is not used" in caplog.text


UNUSABLE = """
import logging, os, sys
from diopi_proto import load_vendor
logging.basicConfig(format="%(message)s")
with load_vendor(sys.argv[1]) as vendor:
    for _ in range(2):
        print(vendor.kernels.compile(sys.argv[2]).cached)
"""


def compile_twice(**environment: str) -> subprocess.CompletedProcess[str]:
    """Compile twice in a child process, because a warning is reported once per process."""
    return subprocess.run(
        [sys.executable, "-c", UNUSABLE, support.tested_library(), SCALE],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **environment},
        capture_output=True,
        text=True,
        check=True,
    )


def test_a_folder_that_others_can_write_is_not_used(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    done = compile_twice(DL_CPU_KERNEL_CACHE=str(shared))
    assert done.stdout.split() == ["False", "False"]
    assert done.stderr.count("it is writable by others") == 1
    assert not list(shared.iterdir())
    inside = shared / "kernels"
    inside.mkdir(mode=0o700)
    done = compile_twice(DL_CPU_KERNEL_CACHE=str(inside))
    assert done.stdout.split() == ["False", "False"]
    assert "is in a folder that others can write to" in done.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_a_folder_of_another_user_is_not_used(tmp_path: Path) -> None:
    foreign = tmp_path / "foreign"
    foreign.mkdir(mode=0o700)
    os.chown(foreign, 12345, -1)
    done = compile_twice(DL_CPU_KERNEL_CACHE=str(foreign))
    assert done.stdout.split() == ["False", "False"]
    assert "belongs to user 12345" in done.stderr


def test_a_cache_that_cannot_be_written_is_done_without_and_reported_once() -> None:
    # A folder of this user in which no process, not even root's, can create a file.
    done = compile_twice(DL_CPU_KERNEL_CACHE="/proc/self/task")
    assert done.stdout.split() == ["False", "False"]
    assert done.stderr.count("kernels are not cached in /proc/self/task: ") == 1
    assert "name another folder in DL_CPU_KERNEL_CACHE, or set it to off" in done.stderr


def test_kernels_are_compiled_elsewhere_where_the_usual_folder_takes_no_files(
    folder: Path, tmp_path: Path
) -> None:
    for unusable in ("/proc/self/task", str(tmp_path / "none")):
        shutil.rmtree(folder, ignore_errors=True)
        done = compile_twice(DL_CPU_KERNEL_CACHE=str(folder), TMPDIR=unusable)
        assert done.stdout.split() == ["False", "True"] and done.stderr == ""


def test_a_compiler_that_finds_no_room_gets_another_folder(folder: Path, tmp_path: Path) -> None:
    full, real = tmp_path / "full", shutil.which("c++") or shutil.which("g++")
    full.mkdir()
    compiler = tmp_path / "c++"
    compiler.write_text(
        f'#!/bin/sh\ncase "$TMPDIR" in {full}/*) echo "cc1plus: No space left on device" >&2;'
        f' exit 1;; esac\nexec {real} "$@"\n'
    )
    compiler.chmod(0o755)
    done = compile_twice(
        DL_CPU_KERNEL_CACHE=str(folder), TMPDIR=str(full), DL_CPU_CXX=str(compiler)
    )
    assert done.stdout.split() == ["False", "True"] and done.stderr == ""
    assert list(full.iterdir()) == []


def test_a_lock_that_stays_held_is_reported_and_not_waited_for(folder: Path) -> None:
    folder.mkdir(mode=0o700)
    held = []
    for number in range(256):
        held.append(os.open(folder / f"lock-{number:02x}", os.O_RDWR | os.O_CREAT, 0o600))
        fcntl.flock(held[-1], fcntl.LOCK_EX)
    done = compile_twice(DL_CPU_KERNEL_CACHE=str(folder), DL_CPU_KERNEL_CACHE_WAIT="0.2")
    for descriptor in held:
        os.close(descriptor)
    assert done.stdout.split() == ["False", "True"], "it is cached all the same"
    assert "waiting up to 0.2 seconds for it (DL_CPU_KERNEL_CACHE_WAIT)" in done.stderr
    assert "is still locked: the kernel is compiled without waiting" in done.stderr


def test_the_cache_can_be_turned_off_and_has_its_place(tmp_path: Path) -> None:
    off = compile_twice(DL_CPU_KERNEL_CACHE="off")
    assert off.stdout.split() == ["False", "False"] and off.stderr == ""
    home = compile_twice(DL_CPU_KERNEL_CACHE="", XDG_CACHE_HOME=str(tmp_path))
    assert home.stdout.split() == ["False", "True"]
    assert len(entries(tmp_path / "dl" / "kernels")) == 1
    relative = compile_twice(DL_CPU_KERNEL_CACHE="here")
    assert "it is not an absolute path" in relative.stderr


def test_the_cache_is_bounded_and_forgets_what_was_not_used(
    vendor: Vendor, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def padded(number: int) -> str:
        return f"{SCALE}\nextern const char room[1 << 19] = {{{number + 1}}};\n"

    monkeypatch.setenv("DL_CPU_KERNEL_CACHE_MB", "2")
    for number in range(3):
        vendor.kernels.compile(padded(number))
    old = entries(folder)
    assert len(old) == 3
    for age, entry in enumerate(old):
        os.utime(entry, (1000 + age, 1000 + age))
    used = next(n for n in range(3) if vendor.kernels.compile(padded(n)).cached)
    for number in range(3, 5):
        vendor.kernels.compile(padded(number))
    assert sum(entry.stat().st_size for entry in entries(folder)) <= 2 << 20
    assert vendor.kernels.compile(padded(used)).cached, "it was used a moment ago"
    assert not all(entry.exists() for entry in old)


EIGHT = """
import sys
import numpy as np
from diopi_proto import load_vendor
library, source, me = sys.argv[1], sys.argv[2], int(sys.argv[3])
sys.stdin.read(1)  # all begin at once
fresh = 0
with load_vendor(library) as vendor:
    for value in range(4):
        code = vendor.kernels.compile(source, options=[f"-DVALUE={value}"])
        fresh += not code.cached
        function = vendor.kernels.load(code).function("constant")
        out = vendor.empty((1,), "int32")
        for _ in range(50):
            out.copy_from([-1])
            function(out)
            assert out.numpy().tolist() == [value], (me, value)
print(fresh)
"""


def test_eight_processes_compile_keep_and_launch_at_once(folder: Path) -> None:
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", EIGHT, support.tested_library(), CONSTANT, str(number)],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for number in range(8)
    ]
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("x")
        process.stdin.flush()
    answers = [process.communicate(timeout=300) for process in processes]
    assert [process.returncode for process in processes] == [0] * 8, answers
    assert sum(int(out) for out, _ in answers) == 4, "each was compiled by a single process"
    assert len(entries(folder)) == 4
    assert not list(folder.glob("work-*"))


# The compiler.


def test_without_a_compiler_the_error_says_what_to_do(
    vendor: Vendor, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    kept = vendor.kernels.compile(SCALE)
    for setting, value, reason in (
        ("DL_CPU_CXX", "off", "DL_CPU_CXX=off disables the compiler"),
        ("DL_CPU_CXX", "/nowhere/c++", "DL_CPU_CXX=/nowhere/c\\+\\+ is neither an absolute path"),
        ("PATH", str(tmp_path), r"no c\+\+, g\+\+ or clang\+\+ is in PATH; install"),
        ("PATH", ".:", r"no c\+\+, g\+\+ or clang\+\+ is in PATH; install"),
    ):
        with monkeypatch.context() as patch:
            patch.setenv(setting, value)
            assert vendor.kernels.properties().compiler == ""
            with pytest.raises(UnavailableError, match=reason):
                vendor.kernels.compile(SCALE)
            # Kernels that were compiled before still run.
            vendor.kernels.load(kept).function("scale")


def test_a_compiler_that_others_can_write_is_not_run(
    vendor: Vendor, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    ran = tmp_path / "ran"
    fake = tmp_path / "bin" / "c++"
    fake.parent.mkdir()
    fake.write_text(f"#!/bin/sh\n: > {ran}\n")
    fake.chmod(0o755)
    fake.parent.chmod(0o777)
    monkeypatch.setenv("PATH", str(fake.parent))
    with pytest.raises(UnavailableError, match="is in a folder that others can write to"):
        vendor.kernels.compile(SCALE)
    assert not ran.exists()
    fake.parent.chmod(0o755)
    with pytest.raises(VendorError, match="created no library"):
        vendor.kernels.compile(SCALE)
    assert ran.exists()


def test_a_language_or_name_that_means_nothing_is_refused(vendor: Vendor) -> None:
    with pytest.raises(VendorError, match="language 'cuda' is unknown"):
        vendor.kernels.compile(SCALE, language="cuda")
    for name in ("../x.cpp", "a/b.cpp", "", "x y"):
        with pytest.raises(VendorError, match="is not a file name without a folder"):
            vendor.kernels.compile(SCALE, name=name)
    with pytest.raises(ArgumentError, match="NUL character"):
        vendor.kernels.compile("a\0b")

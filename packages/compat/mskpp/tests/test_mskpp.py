"""msKPP's interface: the example of the original's guide, and the differences."""

from __future__ import annotations

import ctypes
import importlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mskpp

pytestmark = pytest.mark.skipif(
    not any(map(shutil.which, ("c++", "g++", "clang++"))), reason="needs a C++ compiler"
)
EXAMPLE = Path(__file__).parents[4] / "examples" / "tune_mskpp"
SCRIPT = '"${CXX:-c++}" -O1 -fPIC -shared -x c++ "$1" -o "$2"\n'
KERNEL = """\
struct Pair { int first; float second; };
const int TIMES = 40;  // tunable
    const int HARM = 0;  // tunable: what
__global__ __aicore__ void add(GM_ADDR from, GM_ADDR to, Pair pair, int64_t count) {
  const float* a = (const float*)from;
  volatile float* b = (volatile float*)to;
  for (int time = 0; time < TIMES; ++time)
    for (int64_t i = AscendC::GetBlockIdx(); i < count; i += AscendC::GetBlockNum())
      b[i] = a[i] * pair.first + pair.second;
  if (HARM == 1) b[count / 2] = 7;
  if (HARM == 2) b[count] = 7;
  if (HARM == 3) *(volatile float*)a = 7;
  if (HARM == 4) *(volatile int*)(count - count) = 7;
}
"""


class Pair(ctypes.Structure):
    _fields_ = [("first", ctypes.c_int), ("second", ctypes.c_float)]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Create and enter a folder with a kernel and a build script."""
    (tmp_path / "add.cpp").write_text(KERNEL)
    (tmp_path / "build.sh").write_text(SCRIPT)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def get_kernel(name: str = "add") -> Any:
    gen_file = mskpp.Launcher(mskpp.KernelInvokeConfig("add.cpp", name)).code_gen()
    return mskpp.compile(build_script="build.sh", launch_src_file=gen_file)


def add(count: int = 5000, blocks: int = 3) -> tuple[Any, Any]:
    a, b = np.arange(count, dtype=np.float32), np.zeros(count, np.float32)
    get_kernel()[blocks](a, b, Pair(2, 0.5), count)
    return a, b


def test_the_example_prints_what_the_guide_shows(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(EXAMPLE / "basic_matmul_autotune.py"), "32", "48", "64"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    *lines, best, compared = done.stdout.splitlines()
    for number, line in enumerate(lines):
        assert re.fullmatch(rf"No\.{number}: \d+\.\d{{3}}μs, {{'L1TileShape': 'Gem.*}}", line)
    assert len(lines) == 5
    times = [float(line.split()[1].removesuffix("μs,")) for line in lines]
    assert best == f"Best config: No.{times.index(min(times))}"
    assert compared == "compare success."
    assert list(tmp_path.iterdir()) == []


def test_a_launch_writes_into_the_arrays_that_were_given(folder: Path) -> None:
    a, b = add()
    assert (b == 2 * a + 0.5).all()
    again = np.zeros_like(b)
    kernel = mskpp.get_kernel_from_binary("_gen_module.so", "vec")
    kernel[1](a, again, Pair(2, 0.5), np.int64(len(a)), repeat=2)
    assert (again == b).all()


def test_what_is_wrong_is_never_the_best(
    folder: Path, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    harms = [{"TIMES": "1", "what": f"const int HARM = {harm};"} for harm in range(1, 5)]
    others = [{"TIMES": "no number"}, {"NONE": "1"}, {"TIMES": "1"}, {"TIMES": "80"}]
    tuned = mskpp.autotune(configs=[*harms, *others], warmup=100, repeat=3)(add)
    a, b = tuned()
    assert (b == 2 * a + 0.5).all()
    found = tuned.tuned
    assert [time is None for time in found.microseconds] == 6 * [True] + 2 * [False]
    for number, message in enumerate(
        (
            "argument 1 is wrong: 1 of 5000 elements",
            "writes outside argument 1",
            "changes its input, argument 0",
            "ended by SIGSEGV",
            "build.sh ended with status 1",
            "key NONE has no marker",
        )
    ):
        assert message in found.failures[number]
        assert message in caplog.text
    assert found.best == 6
    assert found.verdict.interval.ratio > 3
    lines = capsys.readouterr().out.splitlines()
    assert [line[:5] for line in lines] == ["No.6:", "No.7:", "Best "]
    assert lines[-1] == "Best config: No.6"


def test_whole_programs_are_tuned_too(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "main.cpp").write_text(
        "#include <cstdlib>\n#include <unistd.h>\nconst int WAIT = 30;  // tunable\n"
        "int main(int, char** a) { usleep(1000 * WAIT); return WAIT == 2 ? 3 : atoi(a[1]); }\n"
    )
    (folder / "program.sh").write_text('"${CXX:-c++}" "$1" -o "$2"\n')

    @mskpp.autotune_v2(configs=[{"WAIT": "60"}, {"WAIT": "2"}, {"WAIT": "1"}], warmup_times=1)
    def program() -> None:
        mskpp.compile_executable("program.sh", "main.cpp")(0)

    program()
    lines = capsys.readouterr().out.splitlines()
    assert [line[:5] for line in lines] == ["No.0:", "No.2:", "Best "]
    assert lines[-1] == "Best config: No.2"
    (table,) = folder.glob("MSKL_AUTOTUNE_RESULTS_*.csv")
    rows = table.read_text().splitlines()
    assert rows[0] == "No.,Config,TaskDuration(us),Args"
    assert [row[0] for row in rows[1:]] == ["0", "2"]


def test_a_name_in_two_scopes_is_replaced_at_its_first_occurrence(
    folder: Path, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    second = "int scope() { const int TIMES = 7;  // tunable\n  return TIMES; }\n"
    (folder / "add.cpp").write_text(KERNEL + second)
    tuned = mskpp.autotune(configs=[{"TIMES": "1"}, {"TIMES": "80"}], warmup=100, repeat=3)(add)
    tuned()
    assert tuned.tuned.failures == {} and tuned.tuned.best == 0
    said = "key TIMES is already marked in line 2; only that line is replaced"
    assert [said in record.message for record in caplog.records].count(True) == 1


def test_the_debug_log_names_the_folder_of_intermediate_files(folder: Path) -> None:
    code = f"""
import sys
import tempfile
tempfile.tempdir = {str(folder)!r}
sys.path.insert(0, {str(Path(__file__).parent)!r})
import mskpp, test_mskpp
mskpp.autotune(configs=[{{"TIMES": "1"}}], warmup=100, repeat=3)(test_mskpp.add)()
"""
    path = os.pathsep.join(filter(None, sys.path))
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": path, "MSKPP_LOG_LEVEL": "0"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "[DEBUG] mskpp: building {'TIMES': '1'} in " in done.stderr
    kept = re.search(r"^\[INFO\] mskpp: generated files are kept in (.*)$", done.stderr, re.M)
    assert kept is not None and (Path(kept[1]) / "0" / "add.cpp").is_file()
    assert done.stdout.splitlines()[-1] == "Best config: No.0"


def test_the_best_has_the_shortest_time_although_the_machine_becomes_faster() -> None:
    observers, reporting = map(
        importlib.import_module, ("dl_autotune.observers", "mskpp.reporting")
    )

    def race(baseline: float, candidate: float) -> Any:
        ratio = baseline / candidate
        interval = observers.Interval(ratio, ratio, ratio)
        return observers.Race(interval, (ratio,), (baseline,), (candidate,))

    times = reporting.SteadyTimes()
    assert times.best is None
    # The second one takes less time, but so does the unmodified kernel meanwhile.
    assert times.add(0, race(40e-6, 10e-6)) == pytest.approx(10)
    assert times.add(1, race(20e-6, 8e-6)) == pytest.approx(16)
    assert times.best == 0


def test_a_second_tuner_waits_for_the_first(folder: Path) -> None:
    reporting, devices = map(importlib.import_module, ("mskpp.reporting", "mskpp.devices"))
    code = (
        "import mskpp; from mskpp import devices, reporting;"
        " reporting.device_lock(devices.Target()).__enter__()"
    )
    path = os.pathsep.join(filter(None, sys.path))
    with reporting.device_lock(devices.Target()):
        waiting = subprocess.Popen(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONPATH": path},
            stderr=subprocess.PIPE,
            text=True,
        )
        assert waiting.stderr is not None
        assert f"waiting for process {os.getpid()}, which is tuning cpu:0" in (
            waiting.stderr.readline()
        )
        assert waiting.poll() is None
    assert waiting.wait(60) == 0
    waiting.stderr.close()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: mskpp.KernelInvokeConfig("no.cpp", "add"), r"no\.cpp cannot be read"),
        (lambda: get_kernel("subtract"), r"add\.cpp has no kernel 'void subtract"),
        (lambda: mskpp.compile("build.sh", "add.cpp"), "was not written by Launcher.code_gen"),
        (lambda: get_kernel()[0], "blockdim 0 has to be a positive"),
        (lambda: get_kernel()[1](1), "has 4 parameters, but 1 were given"),
        (lambda: get_kernel()[1](1, 2, 3, 4), "argument 0 is 1: a parameter of type GM_ADDR"),
        (lambda: get_kernel()[1](np.zeros((4, 4)).T, 2, 3, 4), "argument 0 is not contiguous"),
        (lambda: launched(np.float32(1)), "argument 2 has 4 bytes.* parameter has 8"),
        (lambda: launched(Pair(1, 1), 0.5), r"argument 3: 0\.5 is not a int64_t"),
        (lambda: mskpp.get_kernel_from_binary("none.so"), r"none\.so is not a file"),
        (lambda: mskpp.get_kernel_from_binary("add.cpp")[1](), r"add\.cpp is not a kernel"),
        (lambda: mskpp.autotune(configs=[]), "configs is empty"),
        (lambda: mskpp.autotune(configs=[{"a": 1}]), "configs.0.: 'a': 1 are not str"),
        (lambda: mskpp.autotune(configs=[{"a": "1"}], warmup=0), "warmup=0: must be 1 to 100000"),
        (lambda: mskpp.autotune(configs=[{"a": "1"}], repeat=10001), "repeat=10001: must be 1"),
        (lambda: mskpp.autotune(configs=[{"a": "1"}], device_ids=[1]), "dl:cpu has device 0"),
        (lambda: mskpp.autotune(configs=[{"a": "1"}])(lambda: None)(), "did not launch a kernel"),
        (lambda: mskpp.autotune_v2(configs=[{"a": "1"}], warmup_times=501), "must be 0 to 500"),
        (lambda: mskpp.compile_executable("build.sh", "none.cpp"), r"none\.cpp is not a file"),
    ],
)
def test_mistakes_are_reported(folder: Path, call: Any, message: str) -> None:
    with pytest.raises(mskpp.MskppError, match=message):
        call()


def launched(pair: Any, count: Any = 3) -> None:
    get_kernel()[1](np.zeros(3, np.float32), np.zeros(3, np.float32), pair, count)


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("echo there is no compiler; exit 3", "ended with status 3:\nthere is no compiler"),
        ("true", "did not make"),
        ("sleep 1000 & wait", r"did not end within 0\.5 s"),
    ],
)
def test_a_build_script_that_fails_is_reported(folder: Path, script: str, message: str) -> None:
    building = importlib.import_module("mskpp.building")
    (folder / "bad.sh").write_text(script)
    with pytest.raises(mskpp.MskppError, match=message):
        building.run_script("bad.sh", folder / "add.cpp", folder / "made.so", 0.5)
    with pytest.raises(mskpp.MskppError, match=r"build script none\.sh is not a file"):
        building.run_script("none.sh", folder / "add.cpp", folder / "made.so")


def test_a_template_takes_its_types_from_the_function_around(folder: Path) -> None:
    signature = importlib.import_module("mskpp.signature")
    launcher = importlib.import_module("mskpp.launcher")
    text = "template <class L, typename T>\nACT_GLOBAL void f(const L& l, GM_ADDR x, T y = {}) {}"
    found = signature.find_signature(text, "f", "f.cpp")
    assert (found.types, found.open) == (("L", "GM_ADDR", "T"), {"L", "T"})

    def f(one: Pair, two: Any, three: Pair) -> Any:
        return launcher._bound(found)

    assert f(Pair(), np.zeros(2), Pair()) == ("Pair", "GM_ADDR", "Pair")
    with pytest.raises(mskpp.MskppError, match="in a function that has the kernel's 3 para"):
        launcher._bound(found)
    with pytest.raises(mskpp.MskppError, match="template parameter 'int N' of f is not a type"):
        signature.find_signature("template <int N> void f(int a) {}", "f", "f.cpp")

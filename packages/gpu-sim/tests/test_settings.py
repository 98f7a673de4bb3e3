"""Invalid variables and options are rejected, and reports say what was not checked."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import kernel
from dl_gpu_sim import Module
from dl_gpu_sim.command import conflicts, driver_variables, unchecked
from dl_gpu_sim.paths import library, library_dir
from dl_gpu_sim.report import Report
from dl_gpu_sim.settings import Settings, read

DRIVER = Path(__file__).parents[1] / "csrc" / "driver"
NUMBER, CALL, WHICH = (
    "a whole number from",
    "a function of this driver",
    "the index of the failing call",
)

WRONG = [
    *(("DEVICES", value, f"{NUMBER} 0 to 64") for value in ("-1", "abc", "65", "1x")),
    *(("MEMORY", value, "K, M or G") for value in ("xyz", "16E", "-5", "0", "G", "99999999999G")),
    *(("CAPABILITY", value, "as 8.0") for value in ("banana", "8", "8.", "99.0", "8.0.1")),
    *(("CUDA", value, "as 13.5") for value in ("new", "13", "0.1")),
    *(("SEED", value, f"{NUMBER} 0 to") for value in ("abc", "-1", str(2**64))),
    *(("STEPS", value, f"{NUMBER} 1 to") for value in ("-1", "0", "1e6")),
    *(("STRICT", value, f"{NUMBER} 0 to 1") for value in ("maybe", "2")),
    *(("FAIL", value, CALL) for value in ("cuNope:1", "nonsense", "cuMemAlloc_v2:1")),
    *(("FAIL", value, WHICH) for value in ("cuMemAlloc:0", "cuMemAlloc:x", "cuMemAlloc:")),
    *(("FAIL", value, WHICH) for value in ("cuMemAlloc=0", "cuMemAlloc=x", "cuMemAlloc=1000")),
    ("REPORT", "/nonexistent/x.json", "/nonexistent: No such file"),
    ("REPORT", "/tmp", "it is a folder"),
]


@pytest.mark.parametrize(("name", "value", "allowed"), WRONG)
def test_a_value_without_a_meaning(name: str, value: str, allowed: str) -> None:
    with pytest.raises(ValueError, match=f"^DL_GPU_SIM_{name}={re.escape(value)}: ") as caught:
        read({f"DL_GPU_SIM_{name}": value})
    assert allowed in str(caught.value)


def test_a_variable_that_is_none() -> None:
    with pytest.raises(ValueError, match=r"^DL_GPU_SIM_STEP: unknown setting; .*STEPS"):
        read({"DL_GPU_SIM_STEP": "5"})


def test_values_with_a_meaning(tmp_path: Path) -> None:
    given = {
        "DEVICES": "0",
        "MEMORY": "512M",
        "CAPABILITY": "12.1,6.1",
        "CUDA": "12.4",
        "SEED": "0",
        "STEPS": "7",
        "STRICT": "1",
        "FAIL": "cuMemAlloc:3,cuInit:1,cuMemAlloc:5,cuLaunchKernel=700",
        "REPORT": str(tmp_path / "%p.json"),
    }
    assert read({f"DL_GPU_SIM_{name}": value for name, value in given.items()}) == Settings(0, 7)
    # An empty variable counts as unset.
    assert read({f"DL_GPU_SIM_{name}": "" for name in given}) == Settings(1, 0)


def test_every_call_can_fail() -> None:
    names = set()
    for path in DRIVER.glob("calls_*.cpp"):
        names |= set(re.findall(r'DL_(?:ENTER|ENTER_ANY|COUNTED)\("(\w+)"\)', path.read_text()))
    assert len(names) > 100
    read({"DL_GPU_SIM_FAIL": ",".join(sorted(names))})


def test_a_module_refuses_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DL_GPU_SIM_MEMORY", "xyz")
    with pytest.raises(ValueError, match=r"^DL_GPU_SIM_MEMORY=xyz"):
        Module(kernel(""))


INIT = """
from cffi import FFI
ffi = FFI()
ffi.cdef("int cuInit(unsigned);")
raise SystemExit(ffi.dlopen("libcuda.so.1").cuInit(0))
"""


def test_the_driver_does_not_start(tmp_path: Path) -> None:
    def status(**variables: str) -> tuple[int, str]:
        environment = {**os.environ, "LD_LIBRARY_PATH": str(library_dir()), **variables}
        line = [sys.executable, "-c", INIT]
        done = subprocess.run(line, env=environment, capture_output=True, text=True, check=False)
        return done.returncode, done.stderr

    found, said = status(DL_GPU_SIM_FAIL="cuNope:1", DL_GPU_SIM_REPORT=str(tmp_path / "x.json"))
    assert found == 1 and said.startswith("dl-gpu-sim: DL_GPU_SIM_FAIL=cuNope:1: it has to be")
    found, said = status(DL_GPU_SIM_REPORT="/nonexistent/x.json")
    assert found == 1 and "/nonexistent: No such file" in said
    assert "the report cannot be written: No such file" in said
    os.mkfifo(tmp_path / "pipe")
    _, said = status(DL_GPU_SIM_REPORT=str(tmp_path / "pipe"))
    assert "pipe: the report cannot be written: File exists" in said
    assert (tmp_path / "pipe").is_fifo()
    assert status() == (0, "")


def run_driver(code: str, **variables: str) -> str:
    """Run code that calls the driver, ``cu``, and return its output."""
    prelude = """
import os
from cffi import FFI
ffi = FFI()
ffi.cdef("int cuInit(unsigned); int cuDeviceGetCount(int*);")
ffi.cdef("int cuDeviceGetPCIBusId(char*, int, int);")
ffi.cdef("int cuDeviceComputeCapability(int*, int*, int);")
cu = ffi.dlopen("libcuda.so.1")
"""
    environment = {k: v for k, v in os.environ.items() if k != "CUDA_VISIBLE_DEVICES"}
    environment |= {"LD_LIBRARY_PATH": str(library_dir()), **variables}
    line = [sys.executable, "-c", prelude + code]
    return subprocess.run(line, env=environment, capture_output=True, text=True, check=True).stdout


def test_a_call_fails_with_an_error_until_the_variable_changes() -> None:
    code = """
count = ffi.new("int*")
print(cu.cuInit(0), cu.cuDeviceGetCount(count))
os.environ["DL_GPU_SIM_FAIL"] = "cuDeviceGetCount:3"
print(cu.cuDeviceGetCount(count), cu.cuDeviceGetCount(count), cu.cuDeviceGetCount(count))
# The device is lost: its error stays.
os.environ["DL_GPU_SIM_FAIL"] = "cuDeviceGetCount=719"
print(cu.cuDeviceGetCount(count))
os.environ["DL_GPU_SIM_FAIL"] = ""
print(cu.cuInit(0), cu.cuDeviceGetCount(count))
"""
    found = run_driver(code, DL_GPU_SIM_FAIL="cuDeviceGetCount=304")
    assert found == "0 304\n0 999 0\n719\n719 719\n"


def test_each_device_has_a_capability() -> None:
    code = """
assert cu.cuInit(0) == 0
major, minor = ffi.new("int*"), ffi.new("int*")
for device in range(3):
    assert cu.cuDeviceComputeCapability(major, minor, device) == 0
    print(major[0], minor[0])
assert cu.cuDeviceComputeCapability(major, minor, 3) == 101
"""
    variables = {"DL_GPU_SIM_DEVICES": "3", "DL_GPU_SIM_CAPABILITY": "6.1,8.0"}
    assert run_driver(code, **variables) == "6 1\n8 0\n8 0\n"


def command(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "dl_gpu_sim", *arguments]
    environment = {**os.environ, **variables}
    return subprocess.run(line, env=environment, capture_output=True, text=True, check=False)


def test_the_command_refuses_before_the_program_starts(tmp_path: Path) -> None:
    done = command("--memory", "xyz", "--", "touch", str(tmp_path / "made"))
    assert done.returncode == 2 and "DL_GPU_SIM_MEMORY=xyz" in done.stderr
    assert not (tmp_path / "made").exists()


def test_a_program_that_launches_nothing_is_not_checked() -> None:
    done = command("--", "true")
    assert done.returncode == 4
    assert "NOTHING WAS CHECKED: no call of the simulator's driver was seen" in done.stderr
    done = command("--fail", "cuMemAlloc:3", "--", sys.executable, "-c", INIT)
    assert done.returncode == 4 and "launched no kernel" in done.stderr
    assert "cuMemAlloc:3 did not fail: cuMemAlloc was called 0 times" in done.stderr
    # The program's exit code has precedence.
    assert command("--", "false").returncode == 1


def test_a_process_that_ends_at_once_has_called_the_driver() -> None:
    code = INIT.replace("raise SystemExit(", "import os; os._exit(")
    done = command("--", sys.executable, "-c", code)
    assert done.returncode == 4 and "but launched no kernel" in done.stderr


@pytest.mark.parametrize(
    ("visible", "buses"),
    [
        (None, [0, 1, 2]),
        ("", []),
        ("-1", []),
        ("2,0", [2, 0]),
        ("1,7,0", [1]),
        ("1,1", []),
        ("GPU-646c2d67-7075-2d73-696d-000000000002, 1", [2, 1]),
        ("GPU-0,1", []),
    ],
)
def test_devices_that_are_visible(visible: str | None, buses: list[int]) -> None:
    code = """
import sys
count, name = ffi.new("int*"), ffi.new("char[20]")
if cu.cuInit(0) == 100:  # CUDA_ERROR_NO_DEVICE
    sys.exit()
assert cu.cuDeviceGetCount(count) == 0 and cu.cuDeviceGetPCIBusId(name, 20, count[0]) == 101
for i in range(count[0]):
    assert cu.cuDeviceGetPCIBusId(name, 20, i) == 0
    print(ffi.string(name).decode())
"""
    variables = {} if visible is None else {"CUDA_VISIBLE_DEVICES": visible}
    assert run_driver(code, DL_GPU_SIM_DEVICES="3", **variables).split() == [
        f"0000:00:{each:02x}.0" for each in buses
    ]


def test_injected_faults_that_occurred_are_not_reported() -> None:
    report = Report(calls={"cuMemAlloc": 3}, launches={"k": 1})
    assert unchecked(report, "cuMemAlloc:3,cuMemAlloc,cuMemAlloc=2") == []
    assert unchecked(report, "cuMemAlloc:4") == [
        "cuMemAlloc:4 did not fail: cuMemAlloc was called 3 times"
    ]


def test_the_vendor_finds_the_simulator(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "dl_vendor_cuda").mkdir()
    (tmp_path / "dl_vendor_cuda" / "__init__.py").touch()
    monkeypatch.syspath_prepend(str(tmp_path))
    made = driver_variables({"LD_LIBRARY_PATH": "/there"})
    assert made["LD_LIBRARY_PATH"] == f"{library_dir()}{os.pathsep}/there"
    assert (made["DL_CUDA_DRIVER"], made["DL_VENDORS"]) == (str(library()), "cuda")
    kept = driver_variables({"DL_CUDA_DRIVER": "/other", "DL_VENDORS": "cpu"})
    assert "DL_CUDA_DRIVER" not in kept and "DL_VENDORS" not in kept
    code = "import os; print(os.environ['DL_CUDA_DRIVER'])"
    done = command("--", sys.executable, "-c", code, DL_CUDA_DRIVER="", DL_VENDORS="")
    assert done.stdout == f"{library()}\n"


def test_settings_that_bypass_the_simulator_are_reported() -> None:
    driver, vendors, report = conflicts(
        {"DL_CUDA_DRIVER": "/other", "DL_VENDORS": "cpu,rocm", "DL_GPU_SIM_REPORT": "x.json"}
    )
    assert driver.startswith("DL_CUDA_DRIVER=/other is kept")
    assert vendors.startswith("DL_VENDORS=cpu,rocm is kept") and "x.json is not written" in report
    (visible,) = conflicts({"CUDA_VISIBLE_DEVICES": ""})
    assert visible.startswith("CUDA_VISIBLE_DEVICES= is kept")
    assert conflicts({"DL_CUDA_DRIVER": str(library()), "DL_VENDORS": "cpu, cuda"}) == []


def test_machine_code_is_no_ptx(tmp_path: Path) -> None:
    path = tmp_path / "k.cubin"
    path.write_bytes(b"\x7fELF\x02\xff\xfe")
    done = command(str(path))
    assert done.returncode == 2 and f"{path}: not a PTX text" in done.stderr
    done = command(str(tmp_path / "none.ptx"))
    assert done.stderr == f"dl gpu-sim: {tmp_path / 'none.ptx'}: No such file or directory\n"

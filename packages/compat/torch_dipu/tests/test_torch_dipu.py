"""Scripts of DIPU's documentation, retyped, run unchanged."""

from __future__ import annotations

import importlib.metadata
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

DOCUMENTED_DEVICE = """
import os
import torch
import torch_dipu

def get_device():
    if os.environ.get("DIPU_MOCK_CUDA") == "True":
        device_name = "cuda"
    else:
        device_name = torch_dipu.dipu.device.__dipu__
    device_index = "0"
    device = f"{device_name}:{device_index}"
    return device

def foo(a, b, c):
    res = torch.ops.aten.addmm.default(a, b, c)
    return res

device = get_device()
dicp_input1 = torch.randn(size=(5, 3), dtype=torch.float32).to(device)
dicp_input2 = torch.randn(size=(5, 2), dtype=torch.float32).to(device)
dicp_input3 = torch.randn(size=(2, 3), dtype=torch.float32).to(device)
output = foo(dicp_input1, dicp_input2, dicp_input3)
print(device, output.device.type, tuple(output.shape))
"""


def run(code: str, *, fails: bool = False, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a script in a new interpreter, which has no variables of dl but these."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("DIPU_", "DICP_", "DL_"))}
    path = os.pathsep.join(filter(None, sys.path))
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        env={**kept, "PYTHONPATH": path, "DL_VENDORS": "cpu", **variables},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert (done.returncode != 0) is fails, done.stderr
    return done


def test_cuda_means_dl_after_the_import() -> None:
    done = run("""
        import torch
        import torch_dipu
        x = torch.randn(4, 5, 5).cuda()
        y = x + x
        z = x + 3
        assert x.is_cuda and x.is_dipu and x.cpu().dipu().device == x.device
        assert torch.ones(2, device="dipu").device == torch.ones(2, device="cuda:0").device
        assert torch_dipu.mockcuda and torch_dipu.device_count() == torch.cuda.device_count()
        with torch_dipu.dipu.devicectx(0):
            torch_dipu.dipu.synchronize()
        assert torch_dipu.dipu.is_available() and torch_dipu.dipu.vendor_type == "cpu"
        print(x.device.type == torch_dipu.dipu.diputype, torch_dipu.dipu.device.current_device())
    """)
    assert (done.stdout, done.stderr) == ("True 0\n", "")


def test_mocking_is_off_on_request() -> None:
    done = run(
        DOCUMENTED_DEVICE
        + textwrap.dedent("""
        assert not torch_dipu.mockcuda
        try:
            dicp_input1.cpu().cuda()
        except (AssertionError, RuntimeError) as error:
            print("CUDA" in str(error))
        """),
        DIPU_MOCK_CUDA="False",
    )
    assert (done.stdout, done.stderr) == ("dl:0 dl (5, 3)\nTrue\n", "")


def test_the_documented_choice_of_a_device() -> None:
    assert run(DOCUMENTED_DEVICE, DIPU_MOCK_CUDA="True").stdout == "cuda:0 dl (5, 3)\n"


def test_arguments_are_dumped_on_assignments_in_a_session() -> None:
    done = run("""
        import torch
        import torch_dipu
        import os
        import sys
        x = torch.randn(3, 4).cuda()
        os.environ['DIPU_DUMP_OP_ARGS'] = '1'
        y = x + x
        print("second", file=sys.stderr, flush=True)
        os.environ['DIPU_DUMP_OP_ARGS'] = '2'
        y = x + 3
        print("third", file=sys.stderr, flush=True)
        os.environ['DIPU_DUMP_OP_ARGS'] = '3'
        y = x * 3
        os.environ['DIPU_DUMP_OP_ARGS'] = '0'
        print("none", file=sys.stderr, flush=True)
        y = x / 3
        os.environ['DIPU_DUMP_OP_ARGS'] = '1'
        del os.environ['DIPU_DUMP_OP_ARGS']
        y = x / 3
    """)
    first, _, rest = done.stderr.partition("second\n")
    assert first == "[native dl:0]:add.Tensor  diopiAdd, diopiAddScalar\n"
    second, _, rest = rest.partition("third\n")
    assert "\tadd.Tensor: self:numel:12, sizes:[3, 4], stride:[4, 1]" in second
    assert "\tadd.Tensor: other:3\n" in second and "tensor(" not in second
    third, _, none = rest.partition("none\n")
    assert "\tmul.Tensor: other:3\n" in third and "tensor([[" in third
    assert none == ""


def test_variables_set_before_the_import_apply() -> None:
    done = run("""
        import os
        import torch
        os.environ["DIPU_FORCE_FALLBACK_OPS_LIST"] = "add.out,conv2d"
        import torch_dipu
        x = torch.ones(3).cuda()
        x + x
        print(torch.dl.fallback_stats())
    """)
    assert done.stderr == "" and "add.Tensor" in done.stdout


def test_changes_that_come_too_late_name_the_function() -> None:
    done = run("""
        import os
        import torch_dipu
        os.environ["DIPU_FORCE_FALLBACK_OPS_LIST"] = ".*"
        os.environ["DIPU_DUMP_OP_ARGS"] = "much"
    """)
    assert "torch.dl.set_force_fallback() changes this setting" in done.stderr
    assert "DIPU_DUMP_OP_ARGS='much' is ignored" in done.stderr
    # The warnings point to the assignments.
    assert done.stderr.count("<string>:") == 2


def test_every_operator_falls_back_without_the_library_of_operators() -> None:
    done = run(
        "import torch, torch_dipu; x = torch.ones(3).cuda(); print((x + x).sum().item())",
        DIPU_WITH_DIOPI_LIBRARY="DISABLE",
        DIPU_LOG_FALLBACK_INFO="1",
    )
    assert done.stdout == "6.0\n" and "add.Tensor" in done.stderr


def test_the_profiler_of_the_documentation() -> None:
    done = run("""
        import torch_dipu
        import torch
        from torch.profiler import profile, record_function, ProfilerActivity
        model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU()).cuda()
        inputs = torch.randn(5, 8).cuda()
        activities = [ProfilerActivity.CPU, ProfilerActivity.CUDA]
        with profile(activities=activities, record_shapes=True) as prof:
            with record_function("model_inference"):
                model(inputs)
        print(prof.key_averages().table(sort_by="cuda_time_total", row_limit=10))
    """)
    assert "model_inference" in done.stdout and "diopi" in done.stdout


def test_without_a_device_the_import_says_so() -> None:
    done = run("import torch_dipu", fails=True, DL_DISABLE="all")
    assert "ImportError: [torch_dipu] DIPU's scripts run on the dl device" in done.stderr
    assert "DL_DISABLE" in done.stderr or "vendor" in done.stderr


def test_unknown_names_have_the_module_and_what_replaces_them() -> None:
    program = """
        import torch_dipu
        for name in ("profiler", "GetDeviceProxy", "nothing"):
            try:
                getattr(torch_dipu, name)
            except AttributeError as error:
                print(error)
    """
    profiler, proxy, nothing = run(program).stdout.splitlines()
    module = "module 'torch_dipu' has no attribute"
    assert profiler == f"{module} 'profiler'; torch.profiler records the device"
    assert proxy.startswith(f"{module} 'GetDeviceProxy'; torch.device('cuda') is the device")
    assert nothing.startswith(f"{module} 'nothing'; it has the names of torch.dl")


def test_a_package_of_that_name_in_the_same_place_wins(tmp_path: Path) -> None:
    source = Path(__file__).parents[1] / "src" / "torch_dipu.py"
    (tmp_path / "torch_dipu").mkdir()
    (tmp_path / "torch_dipu" / "__init__.py").write_text("print('theirs')\n")
    (tmp_path / "torch_dipu.py").write_text(source.read_text(encoding="utf-8"), encoding="utf-8")
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import torch_dipu"
    assert run(code).stdout == "theirs\n"


def test_the_wheel_holds_nothing_else() -> None:
    try:
        files = importlib.metadata.files("dl-dipu-compat") or []
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("dl-dipu-compat is not installed as a wheel")
    ours = [str(x) for x in files if ".dist-info" not in str(x) and "__pycache__" not in str(x)]
    assert {x.partition("/")[0] for x in ours} == {"torch_dipu.py", "torch_dipu_modules"}

"""Behavior of `import torch`, in child processes."""

from __future__ import annotations

import json
import textwrap

import pytest
from stub_wheels import Wheels

REPORT = """
    import json, sys
    print(json.dumps({
        "usable": float(torch.ones(2).sum()) == 2.0,
        "name": torch._C._get_privateuse1_backend_name(),
        "accelerator": str(torch.accelerator.current_accelerator()),
        "loaded": sorted(m for m in sys.modules if m.startswith("dl_core.")),
        "warnings": [str(w.message) for w in caught],
    }))
"""
IMPORT = """
    import warnings
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        {imports}
"""


def report(wheels: Wheels, imports: str = "import torch", **variables: str) -> dict:
    done = wheels.run(IMPORT.format(imports=imports) + REPORT, **variables)
    assert done.returncode == 0, done.stderr
    found: dict = json.loads(done.stdout)
    found["warnings"] = [w for w in found["warnings"] if w.startswith("dl-core:")]
    return found


BROKEN = "raise RuntimeError('this plugin is broken')"


def test_without_vendors_torch_is_left_alone(wheels: Wheels) -> None:
    found = report(wheels)
    assert found["usable"] and found["name"] == "privateuseone" and found["warnings"] == []
    assert "dl_core._entry" in found["loaded"], "autoload did not run, so this test proves nothing"
    assert not {"dl_core._C", "dl_core.torch_backend"} & set(found["loaded"])


def test_with_absent_devices_torch_is_left_alone(wheels: Wheels) -> None:
    wheels.add_vendor("dl-vendor-x", name="x", present="lambda: False", priority="10")
    wheels.add_vendor("dl-vendor-cpu", name="cpustub", accelerator="False")
    found = report(wheels)
    assert found["name"] == "privateuseone" and found["accelerator"] == "None"
    assert "dl_core.manager" in found["loaded"]
    assert not {"dl_core._C", "dl_core.torch_backend"} & set(found["loaded"])


def test_a_program_that_asks_for_an_absent_device_gets_the_reason(wheels: Wheels) -> None:
    """torch's own error for device="dl" only lists the device types that it knows."""
    wheels.add_vendor("dl-vendor-x", name="x", present="lambda: False", priority="10")
    wheels.add_vendor("dl-vendor-cpu", name="cpustub", accelerator="False")
    done = wheels.run("import torch; torch.empty(1, device='dl')")
    assert done.returncode == 1
    trace, _, reason = done.stderr.partition("dl-core: ")
    assert trace.startswith("Traceback") and "Expected one of cpu" in trace
    for part in (
        "no dl device is available",
        "x is installed but reports no device",
        "DL_VENDORS=cpustub",
        "`dl doctor`",
    ):
        assert part in reason and "dl-core: " not in reason


REPORT_ERRORS = """
    import contextlib, io, json, sys, torch
    found = {}
    for code in json.loads(sys.stdin.read()):
        said = io.StringIO()
        with contextlib.redirect_stderr(said):
            try:
                exec(code)
            except Exception as error:
                sys.excepthook(type(error), error, error.__traceback__)
        found[code] = said.getvalue().count("dl-core: no dl device is available")
    print(json.dumps(found))
"""


def test_every_way_to_ask_for_an_absent_device_gets_the_reason(wheels: Wheels) -> None:
    wheels.add_vendor("dl-vendor-x", name="x", present="lambda: False", priority="10")
    asks = (
        "torch.device('dl', 0)",
        "torch.ones(1).to('dl:1')",
        "torch.ones(1).dl()",
        "torch.dl.synchronize()",
        "try:\n torch.device('dl')\nexcept RuntimeError as e:\n raise ValueError('no') from e",
        "try:\n torch.device('dl')\nexcept RuntimeError:\n raise ValueError('no')",
    )
    others = ("torch.device('gone')", "torch.ones(1).gone", "raise RuntimeError('dl')")
    code = f"import io, sys; sys.stdin = io.StringIO({json.dumps([*asks, *others])!r})\n"
    done = wheels.run(code + textwrap.dedent(REPORT_ERRORS))
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {**dict.fromkeys(asks, 1), **dict.fromkeys(others, 0)}


def test_a_thread_that_asks_for_an_absent_device_gets_the_reason(wheels: Wheels) -> None:
    wheels.add_vendor("dl-vendor-x", name="x", present="lambda: False", priority="10")
    done = wheels.run(
        """
        import threading
        import torch
        thread = threading.Thread(target=lambda: torch.empty(1, device="dl"))
        thread.start(), thread.join()
        """
    )
    assert done.returncode == 0 and done.stderr.count("dl-core: no dl device is available") == 1


def test_a_program_that_does_not_ask_for_the_absent_device_is_told_nothing(wheels: Wheels) -> None:
    wheels.add_vendor("dl-vendor-x", name="x", present="lambda: False", priority="10")
    done = wheels.run("import torch; torch.ones(1).sum()", "-Werror")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("reporter", ["IPython", "_pytest"])
def test_programs_that_report_errors_themselves_are_told_at_once(
    wheels: Wheels, reporter: str
) -> None:
    wheels.add_vendor("dl-vendor-x", name="x", present="lambda: False", priority="10")
    imports = f"import sys; sys.modules[{reporter!r}] = sys; import torch"
    (warning,) = report(wheels, imports)["warnings"]
    assert "no dl device is available" in warning and "`dl doctor`" in warning


def test_processes_of_multiprocessing_do_not_repeat_the_warning(wheels: Wheels) -> None:
    wheels.add_vendor("dl-vendor-x", name="x", present="lambda: False", priority="10")
    worker = (
        "import sys; sys.modules['_pytest'] = sys; "
        "import multiprocessing.process as p; p._parent_process = p; import torch"
    )
    assert report(wheels, worker)["warnings"] == []


@pytest.mark.parametrize(
    "imports",
    [
        "import torch",
        "import dl_core, torch",
        "import dl_core._entry, torch",
        "import dl_core.startup, torch",
        "import torch, dl_core",
        "import dl_core.torch_backend; import torch",
        "import dl_core.torch_backend.registration; import torch",
    ],
)
def test_a_broken_plugin_is_one_warning_in_every_import_order(wheels: Wheels, imports: str) -> None:
    wheels.add("dl-broken", BROKEN, name="broken")
    found = report(wheels, imports)
    (warning,) = found["warnings"]
    assert found["usable"]
    for part in ("dl-broken 1.2", "this plugin is broken", "pip install", "DL_DISABLE=broken"):
        assert part in warning


def test_every_broken_plugin_gets_a_warning_of_its_own(wheels: Wheels) -> None:
    wheels.add("dl-broken", BROKEN, name="broken")
    wheels.add("dl-gone", "import no_such_module", name="gone")
    found = report(wheels)
    assert found["usable"]
    assert ["dl-broken" in w for w in found["warnings"]] == [True, False]
    assert ["dl-gone" in w for w in found["warnings"]] == [False, True]


def test_import_torch_survives_warnings_as_errors(wheels: Wheels) -> None:
    wheels.add("dl-broken", BROKEN, name="broken")
    done = wheels.run("import torch; print(torch.ones(2).sum().item())", "-Werror::RuntimeWarning")
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "2.0" and "dl-broken" in done.stderr


def test_a_damaged_library_is_one_warning(wheels: Wheels) -> None:
    (wheels.root / "libdamaged.so").write_bytes(b"\x7fELF and then nothing")
    wheels.add_vendor(
        "dl-vendor-x",
        name="x",
        priority="1",
        library=f"Path({str(wheels.root / 'libdamaged.so')!r})",
    )
    found = report(wheels)
    assert found["usable"] and found["name"] == "privateuseone"
    (warning,) = found["warnings"]
    assert "pip install" in warning


def test_a_presence_check_that_raises_is_one_warning(wheels: Wheels) -> None:
    wheels.add_vendor("dl-vendor-x", name="x", priority="1", present="lambda: 1 / 0")
    (warning,) = report(wheels)["warnings"]
    assert "ZeroDivisionError" in warning and "dl-vendor-x 1.2" in warning


def test_an_unknown_vendor_is_one_warning_that_lists_the_known(wheels: Wheels) -> None:
    wheels.add_vendor("dl-vendor-x", name="x", priority="1")
    found = report(wheels, DL_VENDORS="npu")
    (warning,) = found["warnings"]
    assert "DL_VENDORS" in warning and "npu" in warning and "Known vendors: x" in warning


def test_a_bad_setting_is_one_warning(wheels: Wheels) -> None:
    (warning,) = report(wheels, DL_FALLBACK="sometimes")["warnings"]
    assert "DL_FALLBACK='sometimes'" in warning and "allow, warn, error" in warning


def test_two_plugins_with_one_name_are_one_warning(wheels: Wheels) -> None:
    wheels.add_vendor("dl-vendor-x", name="x", priority="1", present="lambda: False")
    wheels.add_vendor("other-x", name="x", priority="1", present="lambda: False")
    (warning,) = report(wheels)["warnings"]
    assert "dl-vendor-x 1.2" in warning and "other-x 1.2" in warning


def test_a_wheel_for_another_torch_is_one_warning_that_names_both(wheels: Wheels) -> None:
    wheels.add_vendor("dl-vendor-x", name="x", priority="1")
    pretend = (
        "import dl_core.installed as i; i.has_compiled_part = lambda: True; "
        "i.built_for = lambda: '1.0.0+cpu'; import torch"
    )
    found = report(wheels, pretend)
    (warning,) = found["warnings"]
    assert (
        "1.0.0+cpu" in warning and "torch 2." in warning and "pip install torch==1.0.0" in warning
    )
    assert "dl_core._C" not in found["loaded"] and found["name"] == "privateuseone"


def test_autoload_can_be_repeated(wheels: Wheels) -> None:
    wheels.add("dl-broken", BROKEN, name="broken")
    again = "import torch, dl_core._entry; dl_core._entry.autoload(); dl_core._entry.autoload()"
    assert len(report(wheels, again)["warnings"]) == 1


def test_a_fault_of_dl_core_itself_does_not_break_torch(wheels: Wheels) -> None:
    found = report(wheels, "import dl_core.startup as s; s.start = None; import torch")
    (warning,) = found["warnings"]
    assert found["usable"] and "TypeError" in warning and "dl doctor" in warning


def test_init_by_hand_says_why_there_is_no_device(wheels: Wheels) -> None:
    done = wheels.run(
        """
        import dl_core, dl_core.errors
        try:
            dl_core.init()
        except dl_core.errors.ActivationError as error:
            print(error)
        """,
        TORCH_DEVICE_BACKEND_AUTOLOAD="0",
    )
    assert done.returncode == 0, done.stderr
    assert "[dl_core.init]" in done.stdout and "No vendor is installed." in done.stdout


def test_init_without_torch_says_so(wheels: Wheels) -> None:
    done = wheels.run(
        """
        import sys; sys.modules["torch"] = None
        import dl_core, dl_core.errors
        try:
            dl_core.init()
        except dl_core.errors.ActivationError as error:
            print(error)
        """
    )
    assert "needs torch" in done.stdout and "dl-core[torch]" in done.stdout


def test_the_call_is_cheap_in_modules(wheels: Wheels) -> None:
    """Imported modules are the cost of the call; these slow ones must not be imported."""
    wheels.add_vendor("dl-vendor-x", name="x", present="lambda: False", priority="10")
    done = wheels.run(
        """
        import sys, os
        os.environ["TORCH_DEVICE_BACKEND_AUTOLOAD"] = "0"
        import torch
        before = set(sys.modules)
        import dl_core._entry
        dl_core._entry.autoload()
        print(*sorted({m.split(".")[0] for m in set(sys.modules) - before}))
        """
    )
    new = set(done.stdout.split())
    assert {"dl_core", "pluggy", "diopi_proto"} <= new, done.stderr
    assert not new & {"cffi", "_cffi_backend", "numpy", "rich", "yaml", "argparse"}


def test_variables_that_nothing_reads_are_reported(wheels: Wheels) -> None:
    variables = {"DIPU_DUMP_OP_ARG": "1", "DIPU_DEVICE": "camb", "DL_VENDORZ": "x"}
    device, dump, vendors = report(wheels, **variables)["warnings"]
    assert "DIPU_DEVICE is set" in device and "DL_VENDORS selects vendors" in device
    assert "Did you mean DIPU_DUMP_OP_ARGS?" in dump and "Did you mean DL_VENDORS?" in vendors


def test_worker_processes_do_not_repeat_them(wheels: Wheels) -> None:
    code = """
        import importlib, multiprocessing, torch
        start = multiprocessing.get_context("spawn").Process
        child = start(target=importlib.import_module, args=("torch",))
        child.start()
        child.join()
        print(child.exitcode)
    """
    done = wheels.run(code, DIPU_DEVICE="camb")
    assert done.stdout == "0\n" and done.stderr.count("DIPU_DEVICE is set") == 1

"""Operators that other wheels add to a vendor: called before its own, and never in the way."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from .added_wheels import AddedWheels
from .processes import AFTER_BACKWARD, CONTROL, RUNS_ONCE, output, path_with, run
from .stub_vendor import StubVendor

pytestmark = RUNS_ONCE

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "added-operators"
PAGE = ROOT / "packages" / "vendor-kit" / "docs" / "added-operators.md"

PREPARE = """
import torch
x = torch.arange(4.0, device="dl")

def counts(operator="diopiAdd"):
    return [(one.name, one.device, one.calls, one.declined)
            for one in torch.dl.added_operators().get(operator, [])]
"""
OWN = """
import torch
x = torch.arange(4.0, device="dl")
with torch.dl.fallback("error"):
    print((x + x).tolist(), torch.dl.added_operators())
"""
THEIRS = "[0.0, 2.0, 4.0, 6.0]"
"""Result of :data:`OWN` if the vendor's own operator has computed it."""


@pytest.fixture
def wheels(tmp_path: Path) -> AddedWheels:
    return AddedWheels(tmp_path)


def pip(*arguments: str | Path) -> None:
    command = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", *arguments]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_the_example_of_the_page_serves_the_calls_that_it_supports(tmp_path: Path) -> None:
    source = shutil.copytree(EXAMPLE, tmp_path / "source")
    pip("wheel", "--no-deps", "--no-build-isolation", "--no-index", "-w", tmp_path, source)
    (wheel,) = tmp_path.glob("*.whl")
    pip("install", "--no-deps", "--no-index", "--target", tmp_path / "target", wheel)
    code = f"""{PREPARE}
torch.manual_seed(0)
a, b = torch.randn(3, 4), torch.randn(3, 4)
with torch.dl.fallback("error"):
    assert torch.equal(torch.add(a.to("dl"), b.to("dl"), alpha=2).cpu(), torch.add(a, b, alpha=2))
    assert torch.equal((a.to("dl").t() + b.to("dl").t()).cpu(), a.t() + b.t())
    assert torch.equal((a.to("dl").double() + b.to("dl")).cpu(), a.double() + b)
(one,) = torch.dl.added_operators()["diopiAdd"]
print(one)
"""
    variables = {"XDG_CACHE_HOME": str(tmp_path / "cache"), "DL_VENDORS": "cpu"}
    said = output(code, PYTHONPATH=path_with(tmp_path / "target"), **variables)
    assert said == (
        "AddedOperator(name='fast-add', wheel='dl-fast-add 0.1.0', device='dl:0', calls=1, "
        "declined=2)"
    )


def test_the_page_shows_the_files_of_the_example_as_they_are() -> None:
    page = PAGE.read_text(encoding="utf-8")
    blocks = re.findall(r"^```(?:cpp|python|toml)\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    for name in ("csrc/operators.cpp", "src/dl_fast_add/plugin.py", "setup.py", "pyproject.toml"):
        assert (EXAMPLE / name).read_text(encoding="utf-8") in blocks, name


def test_the_highest_priority_is_called_first_and_declined_calls_go_on(
    wheels: AddedWheels,
) -> None:
    wheels.add("low", "MARK=1", priority=1).add("high", "MARK=1000", priority=2)
    code = f"""{PREPARE}
with torch.dl.fallback("error"):
    assert (x + x).tolist() == [1000.0, 1002.0, 1004.0, 1006.0]
    assert counts() == [("high", "dl:0", 1, 0), ("low", "dl:0", 0, 0)]
    square = x.reshape(2, 2)
    assert (square + square).tolist() == [[0.0, 2.0], [4.0, 6.0]]
    assert counts() == [("high", "dl:0", 1, 1), ("low", "dl:0", 0, 1)]
assert "add.Tensor" not in torch.dl.fallback_stats()
"""
    done = run(code, **wheels.variables())
    assert done.returncode == 0 and done.stderr == "", done.stderr


def test_equal_priorities_are_called_by_name_with_a_warning(wheels: AddedWheels) -> None:
    done = run(OWN, **wheels.add("b", "MARK=2").add("a", "MARK=1").variables())
    assert done.stdout.startswith("[1.0, 3.0, 5.0, 7.0]"), done.stderr
    assert (
        "operators a of dl-a 1.0 and b of dl-b 1.0 both add diopiAdd to vendor 'cpu' with priority "
        "0: a is called first, by name. DL_DISABLE=a or DL_DISABLE=b leaves one out."
    ) in done.stderr


def test_a_call_that_all_decline_runs_on_the_cpu_and_the_reason_names_them(
    wheels: AddedWheels,
) -> None:
    wheels.add("zeros", "ZERO", vendor="async")
    code = f"""{PREPARE}
y = torch.ones(4, 4).to("dl")[:, ::2]
y.zero_()
assert y.cpu().tolist() == [[0.0, 0.0]] * 4
print([each.text for each in torch.dl.fallback_stats().reasons["zero_"]])
print(counts("diopiZeroInp"))
"""
    assert output(code, **wheels.variables("async")).splitlines() == [
        "['diopiZeroInp declined: zeros of dl-zeros 1.0: only contiguous tensors']",
        "[('zeros', 'dl:0', 0, 1), ('zeros', 'dl:1', 0, 0)]",
    ]


def test_an_error_is_the_error_of_the_call_and_names_its_wheel(wheels: AddedWheels) -> None:
    code = f"""{PREPARE}
try:
    x + x
except RuntimeError as error:
    print(error)
"""
    assert output(code, **wheels.add("bad", 'WORDS="the disk is gone"').variables()) == (
        "[diopiAdd] the disk is gone (operator added by bad of dl-bad 1.0) "
        "(dl:0, vendor cpu, error 1)"
    )


LEFT_OUT = {
    ("OFFSET=1",): "some operators bad of dl-bad 1.0 are not added to vendor 'cpu': its diopiAdd "
    "was built for another contract. Install releases of dl-bad and dl-diopi-proto that belong "
    "together.",
    ('NAME="diopiAdd2"',): "diopiAdd2 (is it diopiAdd?) is not in this host's contract. Correct",
    ("CRASHES",): "it crashed with SIGABRT while being loaded. If it is damaged, install it again: "
    "`pip install --force-reinstall dl-bad`.",
    ("REFUSES",): "operators bad of dl-bad 1.0 are not added to vendor 'cpu': no licence.",
    ("LIES",): "libbad.so cannot be used: dl_operators_v1 lists operators at 0x10, which is not "
    "memory of this process. The library violates the vendor interface; ask its maintainers",
}
"""Warnings by the macros of a library."""


@pytest.mark.parametrize("macros", LEFT_OUT, ids=lambda macros: macros[0].partition("=")[0])
def test_a_library_that_cannot_be_used_is_a_warning(
    wheels: AddedWheels, macros: tuple[str, ...]
) -> None:
    variables = wheels.add("bad", *macros).variables()
    done = run(OWN, **variables)
    assert done.stdout == f"{THEIRS} {{}}\n", done.stderr
    assert LEFT_OUT[macros] in done.stderr
    assert done.stderr.count("RuntimeWarning") == 1
    # The report of `dl doctor` has the same problem, and says that something is wrong.
    doctor = run(
        "import sys; from dl_core.cli import main; sys.exit(main(['doctor']))", **variables
    )
    assert doctor.returncode == 1 and LEFT_OUT[macros] in doctor.stdout, doctor.stdout


def test_a_missing_library_or_vendor_is_a_warning(wheels: AddedWheels) -> None:
    wheels.add("gone", compiled=False).add("lost", vendor="nowhere")
    done = run(OWN, **wheels.variables())
    assert done.stdout == f"{THEIRS} {{}}\n", done.stderr
    assert (
        f"operators gone of dl-gone 1.0 are not added to vendor 'cpu': its library "
        f"{wheels.folder / 'libgone.so'} does not exist. If it is damaged, install it again"
    ) in done.stderr
    assert (
        "operators lost of dl-lost 1.0 are not added to vendor 'nowhere': no plugin provides that "
        "vendor here. Install it: `pip install dl-vendor-nowhere`; DL_DISABLE=lost silences this."
    ) in done.stderr


def test_they_can_be_turned_off(wheels: AddedWheels) -> None:
    wheels.add("marked", "MARK=1000").add("lost", vendor="nowhere")
    for switch in ({"DL_OPERATORS": "off"}, {"DL_DISABLE": "marked,lost"}):
        done = run(OWN, **wheels.variables(**switch))
        assert (done.stdout, done.stderr) == (f"{THEIRS} {{}}\n", "")


def test_other_operators_of_the_vendor_are_bound_as_without_them(wheels: AddedWheels) -> None:
    code = """
import json, torch
from dl_core import _C
print(json.dumps(sorted(_C.native_operators(0))))
"""
    variables = wheels.add("marked", "MARK=1000").variables()
    assert output(code, **variables) == output(code, **{**variables, "DL_OPERATORS": "off"})


def test_doctor_lists_them(wheels: AddedWheels) -> None:
    variables = wheels.add("marked", priority=3).variables()
    done = run("from dl_core.cli import main; main(['doctor'])", **variables)
    assert (
        "Operators marked added to vendor cpu (priority 3; dl:0), dl-marked 1.0\n"
        f"  library   {wheels.folder / 'libmarked.so'}\n"
        "  version 3: diopiAdd\n"
    ) in done.stdout
    found = json.loads(
        output("from dl_core.cli import main; main(['doctor', '--json'])", **variables)
    )
    (one,) = found["added"]
    assert (one["plugin"], one["operators"], one["devices"]) == ("marked", ["diopiAdd"], ["dl:0"])


def test_conformance_runs_them_and_finds_a_wrong_one(wheels: AddedWheels) -> None:
    variables = wheels.add("marked", "MARK=1000").variables()
    suite = "from dl_core.cli import main; main(['conformance', '--vendor', 'cpu', '--jobs', '1', "
    cases = "'--fname', 'Add', '--only-dtype', 'float32'"
    wrong = run(f"{suite}{cases}])", **variables).stdout
    assert re.search(r"diopiAdd: .*: \d+ cases, such as", wrong), wrong
    assert "operators added by marked of dl-marked 1.0: diopiAdd\n" in wrong
    for right in (f"{suite}{cases}, '--own-operators'])", f"{suite}{cases}])"):
        off = {} if "own" in right else {"DL_OPERATORS": "off"}
        said = run(right, **{**variables, **off}).stdout
        assert ", 0 failed" in said and "added by" not in said, said


def test_profiles_name_what_ran(wheels: AddedWheels) -> None:
    code = f"""{PREPARE}
from torch.profiler import profile, ProfilerActivity
x + x
with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.DL]) as found:
    x + x
    x.reshape(2, 2) + x.reshape(2, 2)
    x * x
print(sorted({{each.name for each in found.events() if each.name.startswith("diopi")}}))
"""
    assert output(code, **wheels.add("marked", "MARK=1000").variables()) == (
        "['diopiAdd', 'diopiAdd (marked)', 'diopiMul']"
    )


def test_compiled_programs_and_gradients_call_them(wheels: AddedWheels) -> None:
    code = f"""{PREPARE}
compiled = torch.compile(lambda a, b: a + b, backend="dl", options={{"engine": "contract"}})
for _ in range(3):
    assert compiled(x, x).tolist() == [1000.0, 1002.0, 1004.0, 1006.0]
assert counts()[0][2] >= 3
z = x.clone().requires_grad_()
(z * 1 + z * 1).sum().backward()
assert z.grad.tolist() == [1002.0] * 4, z.grad  # the two gradients are added
print("done")
{AFTER_BACKWARD}"""
    assert output(code, **wheels.add("marked", "MARK=1000").variables()) == "done"


def test_work_is_enqueued_in_the_order_of_an_asynchronous_vendor(wheels: AddedWheels) -> None:
    code = f"""{PREPARE}
{CONTROL}
torch.dl.synchronize()
control.hold()
executed = control.counters().items_executed
with torch.dl.fallback("error"):
    x.zero_()
    y = x * 1
assert control.counters().items_executed == executed
assert counts("diopiZeroInp")[0] == ("zeros", "dl:0", 1, 0)
control.release()
assert y.tolist() == [0.0] * 4
"""
    output(code, **wheels.add("zeros", "ZERO", vendor="async").variables("async"))


def test_a_library_chooses_its_operators_for_each_device(wheels: AddedWheels) -> None:
    code = f"""{PREPARE}
one = torch.ones(4, device="dl:1")
one.zero_()
x.zero_()
assert one.tolist() == x.tolist() == [0.0] * 4
assert counts("diopiZeroInp") == [("zeros", "dl:1", 1, 0)]
assert torch.dl.fallback_stats()["zero_"]["count"] == 1
"""
    output(code, **wheels.add("zeros", "ZERO", "DEVICE=1", vendor="async").variables("async"))


def test_the_conversions_of_a_vendor_apply_to_its_own_operators_only(tmp_path: Path) -> None:
    folders = [tmp_path / "vendor", tmp_path / "wheels"]
    for folder in folders:
        folder.mkdir()
    text = "version: 1\nall: {cast: {float64: float32}}\n"
    stub = StubVendor(folders[0], adaptor=text)
    stub.compile(Path(__file__).with_name("narrow_vendor.cpp"))
    added = AddedWheels(folders[1]).add("bad", 'WORDS="it was called"', vendor="stub").variables()
    code = f"""{PREPARE}
with torch.dl.fallback("error"):
    y = torch.tensor([1.5, 2.0], dtype=torch.float64, device="dl")
    assert (y + y).tolist() == [3.0, 4.0]
    assert torch.dl.adaptor_stats()["diopiAdd"]["out: float32→float64"] == 1
    torch.dl.reset_adaptor_stats()
    try:
        x + x
    except RuntimeError as error:
        assert "it was called" in str(error), error
assert torch.dl.adaptor_stats() == {{}}
assert counts()[0] == ("bad", "dl:0", 1, 1)
"""
    path = f"{folders[0]}:{added['PYTHONPATH']}"
    output(code, **{**added, **stub.variables(), "PYTHONPATH": path})

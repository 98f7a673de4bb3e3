"""Nothing runs code from the current folder, or from a folder that other users can write to."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from .planted import Planted, command

pytestmark = pytest.mark.vendor("cpu")

IMPORT = """
import torch, warnings
print(torch.ones(2, device="dl").sum().item())
"""
PROBE = """
import sys
from diopi_proto import load_vendor, probe_library
from dl_vendor_cpu.plugin import dl_vendor
library = dl_vendor().library
assert probe_library(library).ok, probe_library(library).message
with load_vendor(library, probe=True) as vendor:
    print(vendor.name)
"""


@pytest.fixture
def planted(tmp_path: Path) -> Planted:
    return Planted(tmp_path)


def test_what_is_planted_would_run(planted: Planted) -> None:
    """Otherwise the tests below would prove nothing."""
    assert planted.run(sys.executable, "-c", "import json").returncode != 0
    assert planted.ran == ["json"]


@pytest.mark.parametrize("arguments", [["doctor"], ["devices"], ["doctor", "--json"]])
def test_dl_runs_nothing_of_the_current_folder(planted: Planted, arguments: list[str]) -> None:
    done = planted.run(command(), *arguments)
    assert done.returncode == 0, done.stdout + done.stderr
    assert planted.ran == []


@pytest.mark.parametrize("pythonpath", [os.pathsep, f"/nonexistent{os.pathsep}", "."])
def test_dl_takes_nothing_from_an_empty_part_of_pythonpath(
    planted: Planted, pythonpath: str
) -> None:
    # Python itself imports these by name before us.
    for name in ("dl_core", "diopi_proto", "signal", "tempfile", "logging"):
        (planted.folder / f"{name}.py").unlink()
    done = planted.run(command(), "doctor", PYTHONPATH=pythonpath)
    assert "Problems: none" in done.stdout, done.stderr
    assert planted.ran == []


def test_probes_of_the_torch_free_host_run_nothing_of_the_current_folder(
    planted: Planted, tmp_path: Path
) -> None:
    script = tmp_path / "script.py"
    script.write_text(PROBE)
    done = planted.run(sys.executable, str(script))
    assert done.stdout == "cpu\n", done.stderr
    assert planted.ran == []


def test_the_first_trial_of_a_library_runs_nothing_of_the_current_folder(
    planted: Planted, tmp_path: Path
) -> None:
    script = tmp_path / "script.py"
    script.write_text(IMPORT)
    done = planted.run(sys.executable, str(script), XDG_CACHE_HOME=str(tmp_path / "cache"))
    assert done.stdout == "2.0\n", done.stderr
    assert planted.ran == []


@pytest.mark.parametrize("where", ["current", "shared"])
def test_plugins_of_other_users_are_reported_and_not_imported(
    planted: Planted, tmp_path: Path, where: str
) -> None:
    for module in planted.folder.glob("*.py"):
        module.unlink()
    planted.plugin()
    variables = {}
    if where == "shared":
        planted.folder.chmod(0o777)
        variables["PYTHONPATH"] = str(planted.folder)
    done = planted.run(sys.executable, "-c", IMPORT, **variables)
    assert done.stdout == "2.0\n" and planted.ran == []
    assert "dl-stranger 6.6" in done.stderr and str(planted.folder) in done.stderr
    assert "DL_DISABLE=stranger" in done.stderr
    done = planted.run(command(), "doctor", **variables)
    assert planted.ran == []
    # `dl` itself ignores the current folder.
    told = "untrusted" in done.stdout and "dl-stranger 6.6" in done.stdout
    assert (told, done.returncode) == ((True, 1) if where == "shared" else (False, 0))


def test_plugins_of_a_folder_that_is_named_are_imported(planted: Planted) -> None:
    """The rule does not apply to folders that the user names."""
    for module in planted.folder.glob("*.py"):
        module.unlink()
    planted.plugin()
    planted.run(sys.executable, "-c", IMPORT, PYTHONPATH=str(planted.folder))
    assert planted.ran == ["stranger_plugin"]


def test_the_modules_of_plugins_are_not_taken_from_the_current_folder(planted: Planted) -> None:
    """The wheel is genuine; a module of the same name is in the current folder."""
    for module in planted.folder.glob("*.py"):
        module.unlink()
    planted.module("dl_vendor_cpu")
    done = planted.run(sys.executable, "-c", IMPORT)
    assert done.stdout == "2.0\n", done.stderr
    assert planted.ran == []


def test_a_vendor_library_that_others_can_write_is_one_warning(planted: Planted) -> None:
    site = planted.folder.parent / "site"
    site.mkdir()
    library = site / "libopen.so"
    library.write_bytes(planted.library("libopen.so").read_bytes())
    library.chmod(0o666)
    (site / "open_plugin.py").write_text(f"""
import pluggy
from pathlib import Path
from diopi_proto.descriptor import VendorDescriptor

@pluggy.HookimplMarker("dl")
def dl_vendor():
    return VendorDescriptor(name="open", library=Path({str(library)!r}), version="1", priority=9)
""")
    info = site / "dl_vendor_open-1.dist-info"
    info.mkdir()
    info.joinpath("METADATA").write_text("Name: dl-vendor-open\nVersion: 1\n")
    info.joinpath("entry_points.txt").write_text("[dl]\nopen = open_plugin\n")
    done = planted.run(command(), "doctor", PYTHONPATH=str(site))
    assert done.returncode == 1 and planted.ran == []
    assert "dl-vendor-open 1" in done.stdout and "can be written to by everyone" in done.stdout
    library.chmod(0o644)
    planted.run(command(), "doctor", PYTHONPATH=str(site))


def test_a_bisection_of_others_is_not_resumed(planted: Planted, tmp_path: Path) -> None:
    """The state of a bisection names the program to run."""
    state = planted.folder / "state.json"
    program = [sys.executable, "-c", f"open({str(tmp_path / 'witness')!r}, 'w').write('state')"]
    fields = '"level": "dispatch", "device": null, "criteria": {}, "directory": "/nonexistent"'
    state.write_text(f'{{"format": 1, "command": {json.dumps(program)}, {fields}, "runs": []}}')
    planted.folder.chmod(0o777)
    done = planted.run(command(), "bisect", "--resume", str(state))
    assert done.returncode == 2 and planted.ran == []
    assert "others could have written it" in done.stderr

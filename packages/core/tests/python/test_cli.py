from __future__ import annotations

import importlib.metadata
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from stub_wheels import Wheels

from diopi_proto.trial import TriedDevice
from dl_core import __version__, cli, doctor, first_party, installed
from dl_core.probe import Probe

NO_TORCH = (
    "import sys; sys.modules['torch'] = None; from dl_core.cli import main; sys.exit(main({}))"
)

COMMANDS = """
    import pluggy
    from dl_core.commands import Command

    def configure(parser):
        parser.add_argument("--times", type=int, default=1)

    def run(arguments):
        print("hello " * arguments.times)
        return 5

    @pluggy.HookimplMarker("dl")
    def dl_cli_commands():
        return [
            Command("greet", "say hello", configure, run),
            Command("doctor", "x", configure, run),
        ]
"""


def dl(wheels: Wheels, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run `dl` in a process where torch cannot be imported."""
    return wheels.run(NO_TORCH.format(list(arguments)), **variables)


def test_the_version_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit_:
        cli.main(["--version"])
    assert exit_.value.code == 0 and capsys.readouterr().out == f"dl-core {__version__}\n"


def test_ctrl_c_ends_a_command_with_one_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def examine() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("dl_core.commands_builtin.examine", examine)
    assert cli.main(["doctor"]) == 130
    assert capsys.readouterr() == ("", "dl: interrupted.\n")


def test_doctor_finds_nothing_wrong_with_an_empty_installation(wheels: Wheels) -> None:
    done = dl(wheels, "doctor")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "torch is not installed" in done.stdout
    assert "No vendor is installed." in done.stdout and "Problems: none" in done.stdout


def only(monkeypatch: pytest.MonkeyPatch, wheels: Wheels, *names: str) -> None:
    """Make these stub wheels the only plugins of this process, without torch."""
    monkeypatch.syspath_prepend(wheels.root)

    def distributions(**_: object) -> list[importlib.metadata.Distribution]:
        there = importlib.metadata.Distribution.discover(path=[str(wheels.root)])
        return [found for found in there if found.metadata["Name"] in names]

    monkeypatch.setattr(importlib.metadata, "distributions", distributions)
    monkeypatch.setattr(installed, "torch_build", lambda: None)
    monkeypatch.delenv("DL_DISABLE", raising=False)
    monkeypatch.delenv("DL_VENDORS", raising=False)


def test_doctor_tells_what_to_install(
    wheels: Wheels, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    only(monkeypatch, wheels)
    assert cli.main(["doctor"]) == 0
    _, _, missing = capsys.readouterr().out.partition("\nNot installed\n")
    for cure in ("dl-core[torch]", "dl-vendor-cpu", "dl-optools"):
        assert f"`pip install {cure}`" in missing
    assert "dl tool" in missing and "Problems: none" in missing
    wheels.add_vendor("dl-vendor-x", name="x")
    for name in first_party.WHEELS:
        wheels.add(name, "", name=name.removeprefix("dl-"))
    only(monkeypatch, wheels, "dl-vendor-x", *first_party.WHEELS)
    (left,) = doctor.examine().missing
    assert left.startswith("torch, which the dl device needs")


@pytest.mark.parametrize("command", ["tool", "replay", "bisect"])
def test_a_command_of_a_wheel_that_is_not_installed_names_it(
    command: str,
    wheels: Wheels,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    only(monkeypatch, wheels)
    assert cli.main([command, "anything", "--option", "--", "python"]) == 2
    said = capsys.readouterr()
    cure = "comes with dl-optools, which is not installed: `pip install dl-optools`"
    assert (said.out, said.err) == ("", f"dl: `dl {command}` {cure}.\n")
    with pytest.raises(SystemExit, match="0"):
        cli.main(["--help"])
    assert "`pip install dl-optools`" in " ".join(capsys.readouterr().out.split())


def test_a_command_of_a_wheel_that_does_not_work_names_the_reason(
    wheels: Wheels, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    wheels.add("dl-optools", "import no_such_module", name="optools")
    only(monkeypatch, wheels, "dl-optools")
    assert cli.main(["tool", "compare"]) == 2
    said = capsys.readouterr().err
    assert "no_such_module" in said and "comes with dl-optools 1.2, whose plugin" in said
    monkeypatch.setenv("DL_DISABLE", "optools")
    assert cli.main(["tool", "compare"]) == 2
    cause = "comes with dl-optools, which DL_DISABLE leaves out"
    assert capsys.readouterr().err == f"dl: `dl tool` {cause}.\n"


def test_an_unknown_command_is_not_a_choice(wheels: Wheels) -> None:
    done = dl(wheels, "tols")
    assert done.returncode == 2 and "invalid choice: 'tols'" in done.stderr


def test_doctor_tells_a_broken_plugin_and_ends_with_1(wheels: Wheels) -> None:
    wheels.add("dl-broken", "import no_such_module", name="broken", version="7.8")
    done = dl(wheels, "doctor")
    assert done.returncode == 1
    for part in ("dl-broken 7.8", "no_such_module", "pip install --force-reinstall dl-broken"):
        assert part in done.stdout


def test_doctor_tells_which_libraries_a_vendor_uses(wheels: Wheels) -> None:
    wheels.add_vendor("dl-vendor-x", name="x", libraries="lambda: {'X BLAS': '/opt/libxblas.so'}")
    wheels.add_vendor("dl-vendor-y", name="y", libraries="lambda: 1 / 0")
    found = json.loads(dl(wheels, "doctor", "--json").stdout)["vendors"]
    told = {vendor["name"]: vendor["libraries"] for vendor in found}
    assert told["x"] == {"X BLAS": "/opt/libxblas.so"}
    assert told["y"] == {"unknown": "its plugin failed: ZeroDivisionError: division by zero"}


def test_doctor_tells_what_a_vendor_is_and_why_it_fails(wheels: Wheels) -> None:
    library = wheels.root / "libdamaged.so"
    library.write_bytes(b"not a library")
    wheels.add_vendor("dl-vendor-x", name="x", priority="7", library=f"Path({str(library)!r})")
    done = dl(wheels, "doctor", "--json")
    found = json.loads(done.stdout)
    assert done.returncode == 1 and found["healthy"] is False
    (vendor,) = found["vendors"]
    assert (vendor["name"], vendor["wheel"], vendor["priority"]) == ("x", "dl-vendor-x 1.2", 7)
    assert vendor["library"] == str(library) and str(library) in vendor["error"]
    assert "pip install" in vendor["cure"] and found["visible"] == []
    assert "x could not be loaded." in found["reasons"]
    assert any("dl-vendor-x 1.2" in problem for problem in found["problems"])


def test_doctor_tells_a_missing_library(wheels: Wheels) -> None:
    wheels.add_vendor("dl-vendor-x", name="x", library="Path('/nonexistent/libx.so')")
    done = dl(wheels, "doctor")
    assert done.returncode == 1 and "/nonexistent/libx.so does not exist" in done.stdout


def test_doctor_tells_a_bad_setting(wheels: Wheels) -> None:
    done = dl(wheels, "doctor", DL_FALLBACK="often")
    assert done.returncode == 1 and "DL_FALLBACK='often'" in done.stdout


def test_doctor_tells_a_misspelt_setting(wheels: Wheels) -> None:
    done = dl(wheels, "doctor", DL_VENDOR="cpu")
    assert done.returncode == 1 and "Did you mean DL_VENDORS?" in done.stdout
    assert dl(wheels, "doctor", DL_OPTOOLS_DUMP="1").returncode == 0


def test_doctor_lists_disabled_plugins_as_such(wheels: Wheels) -> None:
    wheels.add("dl-broken", "import no_such_module", name="broken")
    done = dl(wheels, "doctor", "--json", DL_DISABLE="all")
    assert done.returncode == 0
    assert {p["name"]: p["status"] for p in json.loads(done.stdout)["plugins"]}[
        "broken"
    ] == "disabled"


def test_doctor_gives_the_time_that_a_plugin_takes(wheels: Wheels) -> None:
    wheels.add("dl-tool", "", name="tool")
    found = json.loads(dl(wheels, "doctor", "--json").stdout)
    assert {p["name"]: p["milliseconds"] > 0 for p in found["plugins"]}["tool"]


@pytest.fixture
def two_vendors(on_path: Wheels, monkeypatch: pytest.MonkeyPatch) -> Wheels:
    """Two vendors with fake probe results, without torch."""
    on_path.add_vendor("dl-vendor-fast", name="fast", priority="9")
    on_path.add_vendor("dl-vendor-ref", name="ref", accelerator="False")
    devices = [TriedDevice(0, "Fast 1", 2**33, "f1"), TriedDevice(1, "Fast 2", 2**33, "f1")]
    answers = {
        "fast": Probe("dl_vendor_v1", "4.2", 530, ["diopiAdd"], 2, devices),
        "ref": Probe("dl_vendor_v1", "4.2", 538, [], 1, [TriedDevice(0, "CPU", 2**30, "")]),
    }
    monkeypatch.setattr(doctor, "probe_vendor", lambda vendor, timeout: answers[vendor.name])
    monkeypatch.setattr(installed, "torch_build", lambda: None)
    return on_path


@pytest.mark.usefixtures("two_vendors")
def test_doctor_shows_devices_operators_and_reasons(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["doctor"]) == 0
    said = capsys.readouterr().out
    for part in ("interface dl_vendor_v1, version 4.2, 530 operators", "Fast 2, 8.0 GiB f1"):
        assert part in said
    assert "diopiAdd" in said and "ref stays out" in said


def test_doctor_says_no_more_of_a_vendor_than_it_tells(
    two_vendors: Wheels, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    answers = {
        "fast": Probe("DIOPI", "", 5, [], 1, [TriedDevice(0, "old", 0, "")]),
        "ref": Probe("dl_vendor_v1", "", 0),
    }
    monkeypatch.setattr(doctor, "probe_vendor", lambda vendor, timeout: answers[vendor.name])
    assert cli.main(["doctor"]) == 0
    said = capsys.readouterr().out
    assert "  interface DIOPI, 5 operators\n  device 0  old\n" in said
    assert "  interface dl_vendor_v1, 0 operators\n  no device: no driver was found" in said
    two_vendors.add_vendor("dl-vendor-old", name="old", legacy="True")
    answers["old"], answers["fast"] = answers["fast"], Probe("dl_vendor_v1")
    assert cli.main(["doctor"]) == 0
    said = capsys.readouterr().out
    assert "interface DIOPI, 5 operators, one device in host memory" in said
    answers["ref"] = Probe("dl_vendor_v1", said="no device: the cable is out")
    assert cli.main(["doctor"]) == 0
    assert "  no device: the cable is out\n" in capsys.readouterr().out
    answers["old"] = Probe("DIOPI")
    assert cli.main(["doctor"]) == 0
    assert "\nVisible devices\nnone\n- " in capsys.readouterr().out


def test_doctor_lists_operators_that_the_contract_does_not_have(
    two_vendors: Wheels, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    newer = [f"diopiNewer{number}" for number in range(12)]
    answers = {
        "fast": Probe("dl_vendor_v1", "", 5, unknown=["diopiAddScaler", "diopiOther"]),
        "ref": Probe("dl_vendor_v1", "", 5, unknown=newer),
    }
    monkeypatch.setattr(doctor, "probe_vendor", lambda vendor, timeout: answers[vendor.name])
    assert cli.main(["doctor"]) == 0
    said = capsys.readouterr().out
    line = "  not in this host's contract, so never called: "
    assert f"{line}diopiAddScaler (is it diopiAddScalar?), diopiOther. Correct" in said
    assert f"{line}diopiNewer0, " in said and "diopiNewer9 and 2 more. Correct" in said
    assert cli.main(["doctor", "--json"]) == 0
    vendors = json.loads(capsys.readouterr().out)["vendors"]
    assert [x["unknown"] for x in vendors if x["name"] == "ref"] == [newer]


def test_doctor_names_libraries_that_a_vendor_without_a_reason_may_miss(
    two_vendors: Wheels, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    answers = {
        "fast": Probe("dl_vendor_v1", missing_libraries=["libfast.so.2", "libfast.so.1"]),
        "ref": Probe("dl_vendor_v1"),
    }
    monkeypatch.setattr(doctor, "probe_vendor", lambda vendor, timeout: answers[vendor.name])
    assert cli.main(["doctor"]) == 0
    said = capsys.readouterr().out
    guess = "  no device: no driver was found, or no device for the driver"
    assert (
        f"{guess}. The library names these files, which are not installed: libfast.so.2, " in said
    )
    assert f"{guess}\n" in said


@pytest.mark.usefixtures("two_vendors")
def test_autoload_turned_off_is_a_reason_and_no_fault(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    torch = installed.TorchBuild("2.13.0", None, None)
    monkeypatch.setattr(installed, "torch_build", lambda: torch)
    monkeypatch.setattr(installed, "has_compiled_part", lambda: True)
    monkeypatch.setattr(installed, "built_for", lambda: "2.13.0")
    assert cli.main(["doctor"]) == 0
    assert "dl_core.init()" not in capsys.readouterr().out
    monkeypatch.setenv("TORCH_DEVICE_BACKEND_AUTOLOAD", "0")
    assert cli.main(["doctor"]) == 0
    assert "call dl_core.init()" in capsys.readouterr().out


@pytest.mark.usefixtures("two_vendors")
def test_doctor_tells_a_compiled_part_for_another_torch(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    torch = installed.TorchBuild("2.14.0", None, None)
    monkeypatch.setattr(installed, "torch_build", lambda: torch)
    monkeypatch.setattr(installed, "has_compiled_part", lambda: True)
    monkeypatch.setattr(installed, "built_for", lambda: "2.13.0+cpu")
    assert cli.main(["doctor"]) == 1
    said = "built for torch 2.13.0+cpu and torch 2.14.0 is running"
    assert said in capsys.readouterr().out
    assert cli.main(["devices", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == []
    assert cli.main(["devices"]) == 0
    told = capsys.readouterr().out
    assert told.startswith("No device is visible.") and said in told


@pytest.mark.usefixtures("two_vendors")
def test_devices_lists_what_torch_will_see(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert cli.main(["devices", "--json"]) == 0
    assert [(d["device"], d["name"]) for d in json.loads(capsys.readouterr().out)] == [
        ("dl:0", "Fast 1"),
        ("dl:1", "Fast 2"),
    ]
    monkeypatch.setenv("DL_VENDORS", "ref,fast")
    assert cli.main(["devices"]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert [row[:3] for row in rows[1:]] == [
        ["dl:0", "ref", "0"],
        ["dl:1", "fast", "0"],
        ["dl:2", "fast", "1"],
    ]


def test_devices_says_why_there_are_none(wheels: Wheels) -> None:
    done = dl(wheels, "devices")
    assert done.returncode == 0 and "No vendor is installed." in done.stdout


def test_a_plugin_adds_a_command(wheels: Wheels) -> None:
    wheels.add("dl-greeter", COMMANDS, name="greeter")
    done = dl(wheels, "greet", "--times", "2")
    assert done.returncode == 5 and done.stdout.strip() == "hello hello"
    assert "greet" in dl(wheels, "--help").stdout


def test_a_plugin_cannot_replace_a_command(wheels: Wheels) -> None:
    wheels.add("dl-greeter", COMMANDS, name="greeter")
    done = dl(wheels, "doctor")
    assert done.returncode == 0 and "Problems: none" in done.stdout
    assert "dl-greeter 1.2 wants to add the command 'doctor'" in dl(wheels, "greet").stderr


def test_a_broken_plugin_does_not_stop_the_commands_of_others(wheels: Wheels) -> None:
    wheels.add("dl-broken", "import no_such_module", name="broken")
    wheels.add("dl-greeter", COMMANDS, name="greeter")
    done = dl(wheels, "greet")
    assert done.returncode == 5 and "dl-broken 1.2" in done.stderr


def test_a_plugin_whose_commands_fail_is_one_warning(wheels: Wheels) -> None:
    broken = COMMANDS.replace("return [", "raise OSError('gone')\n        return [")
    wheels.add("dl-broken", broken, name="broken")
    wheels.add("dl-greeter", COMMANDS, name="greeter")
    done = dl(wheels, "greet")
    assert done.returncode == 5 and done.stdout.strip() == "hello"
    (line,) = [x for x in done.stderr.splitlines() if "broken" in x]
    assert "dl-broken 1.2" in line and "gone" in line and "DL_DISABLE=broken" in line


def test_no_command_is_an_error_with_help(wheels: Wheels) -> None:
    done = dl(wheels)
    assert done.returncode == 2 and "command" in done.stderr


def test_the_module_runs_as_a_script(wheels: Wheels) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "dl_core.cli", "--version"],
        env=wheels.environment(),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stdout == f"dl-core {__version__}\n"


def doctor_into(wheels: Wheels, stdout: Any) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "dl_core.cli", "doctor"],
        env=wheels.environment(),
        stdout=stdout,
        stderr=subprocess.PIPE,
        timeout=60,
    )


def test_output_that_is_not_read_to_its_end_is_no_traceback(wheels: Wheels) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = doctor_into(wheels, writing)
    os.close(writing)
    assert (done.returncode, done.stderr) == (1, b"")


FULL = Path("/dev/full")


@pytest.mark.skipif(not FULL.exists(), reason="no device that is always full")
def test_output_that_finds_no_room_is_one_sentence(wheels: Wheels) -> None:
    with FULL.open("wb") as full:
        done = doctor_into(wheels, full)
    said = b"dl: the output cannot be written: No space left on device.\n"
    assert (done.returncode, done.stderr) == (1, said)

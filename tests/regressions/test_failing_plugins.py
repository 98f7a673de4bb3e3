"""A plugin that fails in any way causes one warning with its name, and all other plugins work."""

from __future__ import annotations

import json
import os
import subprocess
import textwrap
from pathlib import Path

import pytest
from core.processes import output, path_with
from core.stub_vendor import StubVendor, table_source

from .planted import command

pytestmark = pytest.mark.vendor("cpu")

VENDOR = """
import pluggy
from pathlib import Path
from diopi_proto.descriptor import VendorDescriptor

def raises(error):
    raise error

class Odd(BaseException):
    pass

class Mute(Exception):
    def __str__(self):
        raise SystemExit("no text")

class Unshown(str):
    def __repr__(self):
        raise Odd("no text")

@pluggy.HookimplMarker("dl")
def dl_vendor():
    return {answer}
"""


def vendor(answer: str) -> str:
    return VENDOR.format(answer=answer)


def described(**fields: str) -> str:
    values = {"name": "'odd'", "library": "Path('/nonexistent/lib.so')", "version": "'1'", **fields}
    return vendor(f"VendorDescriptor({', '.join(f'{k}={v}' for k, v in values.items())})")


HOOK = "import pluggy\nhookimpl = pluggy.HookimplMarker('dl')\n"

FAILURES = {
    "missing": ("import no_such_module", "no_such_module"),
    "syntax": ("def broken(:", "SyntaxError"),
    "leaves": ("raise SystemExit(0)", "SystemExit: 0"),
    "endless": ("def again():\n    again()\nagain()", "RecursionError"),
    "mute": (vendor("raises(Mute())"), "Mute, which cannot be shown"),
    "odd": (vendor("raises(Odd('strange'))"), "Odd: strange"),
    "generator": (vendor("raises(GeneratorExit())"), "GeneratorExit."),
    "forges": (vendor("raises(ValueError('a\\nProblems: none\\x1b[2J'))"), r"none\x1b[2J"),
    "undecodable": (vendor("raises(ValueError('\\udcff'))"), r"ValueError: \udcff"),
    "talks": (vendor("raises(ValueError('x' * 10**6))"), "xxx"),
    "nonsense": (vendor("'libvendor.so'"), "dl_vendor returned 'libvendor.so'"),
    "unshown": (vendor("Unshown()"), "Odd: no text"),
    "priority": (described(priority="'high'"), "priority='high', which must be an integer"),
    "enormous": (described(priority="10**5000"), "a priority beyond 1000000"),
    "boolean": (described(priority="True"), "priority=True, which must be an integer"),
    "accelerator": (described(accelerator="'no'"), "accelerator='no', which must be True or"),
    "library": (described(library="7"), "library=7, which must be a path"),
    "zero": (described(library="'/lib\\0.so'"), "is not a path"),
    "relative": (described(library="'lib.so'"), "is relative"),
    "name": (described(name="'Odd Name'"), "the name 'Odd Name'"),
    "number": (described(name="7"), "name=7, which must be a string"),
    "long": (described(name="'x' * 10**6"), "up to 64 lower case letters"),
    "version": (described(version="None"), "version=None, which must be a string"),
    "callable": (described(present="3"), "present=3, which is not callable"),
    "simulator": (described(simulated="3"), "simulated=3, which is not callable"),
    "present-leaves": (
        described(name="'p1'", present="lambda: raises(SystemExit(0))"),
        "its presence check failed with SystemExit: 0",
    ),
    "present-mute": (
        described(name="'p2'", present="lambda: raises(Mute())"),
        "its presence check failed with Mute, which",
    ),
    "present-import": (
        described(name="'p3'", present="lambda: __import__('no_such_module')"),
        "its presence check failed with ModuleNotFoundError",
    ),
    "arguments": (f"{HOOK}@hookimpl\ndef dl_vendor(driver): pass", "a hook does not fit"),
    "unknown": (f"{HOOK}@hookimpl\ndef dl_later(): pass", "it implements dl_later"),
    "attributes": (
        "import sys\nclass Odd:\n    def __dir__(self): raise KeyError('no names')\n"
        "sys.modules[__name__] = Odd()",
        "KeyError",
    ),
}
"""A module's source and the expected warning, by the name of the plugin."""


def install(folder: Path, name: str, source: str, entry_points: str = "") -> None:
    module = f"failing_{name.replace('-', '_')}"
    (folder / f"{module}.py").write_text(source)
    info = folder / f"dl_{name.replace('-', '_')}-1.2.dist-info"
    info.mkdir()
    info.joinpath("METADATA").write_text(f"Metadata-Version: 2.1\nName: dl-{name}\nVersion: 1.2\n")
    info.joinpath("entry_points.txt").write_text(entry_points or f"[dl]\n{name} = {module}\n")


@pytest.fixture(scope="module")
def failing(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return the environment of a process with these plugins in addition to installed ones."""
    folder = tmp_path_factory.mktemp("failing")
    for name, (source, _) in FAILURES.items():
        install(folder, name, source)
    install(folder, "garbage", "", "[dl]\ngarbage = no module at all!\n")
    install(folder, "nameless", "", "[dl]\n = failing_nameless\n")
    install(folder, "twice", "", "[dl]\nalias-one = failing_twice\nalias-two = failing_twice\n")
    install(folder, "again", HOOK, "[dl]\nmissing = failing_again\n")
    return {"PYTHONPATH": path_with(folder), "DL_VENDORS": "cpu"}


IMPORT = """
import json, warnings
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    import torch
assert torch.ones(2, device="dl").sum().item() == 2
print(json.dumps([str(w.message) for w in caught if str(w.message).startswith("dl-core")]))
"""
OTHERS = {
    "garbage": "plugin 'garbage' of dl-garbage 1.2",
    "nameless": "of dl-nameless 1.2: its plugin has no name",
    "twice": "plugin 'alias-two' of dl-twice 1.2",
    "again": "plugin 'missing' of dl-missing 1.2",
}


def test_import_torch_has_one_warning_for_each_and_a_device(failing: dict[str, str]) -> None:
    warnings = json.loads(output(IMPORT, **failing).splitlines()[-1])
    for name, (_, said) in FAILURES.items():
        mine = [text for text in warnings if f"plugin {name!r} of dl-{name} 1.2: " in text]
        assert len(mine) == 1 and said in mine[0], (name, mine)
        assert "pip install" in mine[0] or "DL_DISABLE" in mine[0], mine
        assert mine[0].isprintable() and len(mine[0]) < 2000
    # The plugin name `missing` is claimed twice: the loser is reported with the winner.
    assert len(warnings) == len(FAILURES) + 4
    for name, said in OTHERS.items():
        assert any(said in text for text in warnings), name


def test_the_doctor_has_a_line_for_each(failing: dict[str, str]) -> None:
    done = subprocess.run(
        [command(), "doctor"],
        env={**os.environ, **failing},
        capture_output=True,
        text=True,
        timeout=100,
    )
    lines = [x for x in done.stdout.splitlines() if x.startswith("- plugin ")]
    assert done.returncode == 1 and len(lines) == len(FAILURES) + 4, done.stdout + done.stderr
    assert done.stdout.count("\nProblems: ") == 1 and "\x1b" not in done.stdout


def test_a_command_that_cannot_be_created_does_not_stop_other_commands(tmp_path: Path) -> None:
    source = """
        import pluggy
        from dl_core.commands import Command

        def configure(parser):
            raise SystemExit("no")

        @pluggy.HookimplMarker("dl")
        def dl_cli_commands():
            return [
                Command("broken", "100% sure\\nand more", configure, print),
                Command(7, "seven", print, print),
                Command("hidden\\x1b[2J", "a name", print, print),
                Command("greet", "say hello", lambda parser: None, lambda _: print("hello") or 5),
                "text",
            ]
    """
    install(tmp_path, "tools", textwrap.dedent(source))
    variables = {"PYTHONPATH": path_with(tmp_path)}

    def dl(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [command(), *arguments],
            env={**os.environ, **variables},
            capture_output=True,
            text=True,
            timeout=100,
        )

    done = dl("greet")
    assert (done.returncode, done.stdout) == (5, "hello\n")
    assert "dl-tools 1.2 cannot create its command 'broken': SystemExit: no." in done.stderr
    assert done.stderr.count("something other than a Command") == 3
    assert dl("broken").returncode == 1
    assert "100% sure" in dl("--help").stdout


def test_a_thousand_devices_leave_room_for_another_vendors(tmp_path: Path) -> None:
    variables = StubVendor(tmp_path).compile(table_source(device_count=1000)).variables("stub,cpu")
    code = f"""{IMPORT}
assert torch.dl.device_count() == 64
assert torch.dl.get_device_properties(63).vendor == "cpu"
assert torch.ones(2, device="dl:63").sum().item() == 2
"""
    code = code.replace('device="dl")', 'device="dl:63")')
    (warning,) = json.loads(output(code, **variables))
    assert "stub has 1000 devices, of which only the first 63 are visible" in warning
    doctor = "import sys; from dl_core.cli import main; print(main(['doctor']))"
    said = output(doctor, **variables)
    # The other two problems are slots that the stub lacks.
    assert said.endswith("\n1") and "Problems: 3\n" in said and "- stub has 1000 devices" in said
    assert "dl:63" in said

"""Plugins that harm the process: each is reported in one sentence, and the other
plugins continue."""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path

import pytest
from stub_wheels import Wheels, foreign_plugins

from dl_core.foreign_output import output_to_errors
from dl_core.manager import PluginManager

FOREIGN = foreign_plugins()
GOOD = """
import pluggy
@pluggy.HookimplMarker("dl")
def dl_cli_commands():
    return []
"""
TEXT = """
class Odd(Exception):
    def __str__(self):
        {text}
raise Odd()
"""
THREAD = (
    "import threading\nthreading.Thread(target=threading.Event().wait, name='eternal').start()\n"
)
NO_TORCH = "import sys; sys.modules['torch'] = None\n"
DOCTOR = f"""{NO_TORCH}
from dl_core.__main__ import main
sys.argv[1:] = ['doctor', '--json']
exit(main())
"""

FAILURES = {
    "interrupt": ("raise KeyboardInterrupt", "KeyboardInterrupt."),
    "exit": ("raise SystemExit('no')", "SystemExit: no."),
    "generator": ("raise GeneratorExit", "GeneratorExit."),
    "raising text": (TEXT.format(text="raise ValueError"), "Odd, which cannot be shown."),
    "interrupting text": (TEXT.format(text="raise KeyboardInterrupt"), "Odd, which cannot be"),
    "endless text": (TEXT.format(text="while True: pass"), "it did not end within 1 seconds."),
}
UNDONE = {
    "folder": ("import os\nos.chdir('/')", "it changes the current folder"),
    "handler": (
        "import signal\nsignal.signal(signal.SIGTERM, print)",
        "it sets a handler of SIGTERM",
    ),
    "stdout": ("import sys\nsys.stdout.close()", "it closes sys.stdout"),
    "descriptor": ("import os\nos.close(1)", "it closes sys.stdout"),
    "stream": ("import sys\nsys.stderr = None", "it replaces sys.stderr"),
}
STRICT = {
    "json": ("import json\njson.dumps = lambda *_, **__: 'mine'", "it replaces json.dumps"),
    "open": ("import builtins\nbuiltins.open = None", "it replaces builtins.open"),
}
FATAL = {
    "closes": ("import os\nos.closerange(0, 1000)", "it closes files of the process"),
    "thread": (THREAD, "it starts the thread 'eternal', which keeps programs from ending"),
}


def own(manager: PluginManager) -> dict[str, str]:
    return {x.name: x.error for x in manager.records if x.name not in FOREIGN and x.error}


@pytest.mark.parametrize("what", FAILURES)
def test_a_plugin_that_fails_is_recorded(what: str, on_path: Wheels) -> None:
    source, said = FAILURES[what]
    on_path.add("dl-bad", source, name="bad")
    on_path.add("dl-zgood", GOOD, name="zgood")
    manager = PluginManager([*FOREIGN], 1.0)
    manager.load()
    assert list(own(manager)) == ["bad"] and said in own(manager)["bad"]
    assert [x.status for x in manager.records if x.name == "zgood"] == ["loaded"]


@pytest.mark.parametrize("what", [*UNDONE, *STRICT])
def test_changes_of_the_process_are_undone_and_named(what: str, on_path: Wheels) -> None:
    source, said = {**UNDONE, **STRICT}[what]
    on_path.add("dl-bad", GOOD + source, name="bad")
    before = Path.cwd(), signal.getsignal(signal.SIGTERM), os.fstat(1), sys.stderr
    manager = PluginManager([*FOREIGN], 10.0, strict=what in STRICT)
    with output_to_errors():
        manager.load()
    assert own(manager) == {"bad": f"{said}, which was undone."}
    assert (Path.cwd(), signal.getsignal(signal.SIGTERM), os.fstat(1), sys.stderr) == before
    assert json.dumps([1]) == "[1]"
    with Path(os.devnull).open("w") as file:
        file.write("x")


def test_the_doctor_names_all_of_them_and_its_output_is_json(wheels: Wheels) -> None:
    expected = {**FAILURES, **UNDONE, **STRICT, **FATAL}
    for at, (source, _) in enumerate(expected.values()):
        wheels.add(f"dl-p{at}", GOOD + source, name=f"p{at}")
    prints = (
        "import atexit, os\nprint('by Python')\nos.write(1, b'by number\\n')\n"
        "os.system('echo by a child')\natexit.register(print, 'at the end')\n"
    )
    wheels.add("dl-prints", GOOD + prints, name="prints")
    done = wheels.run(DOCTOR, DL_PROBE_TIMEOUT="1")
    found = json.loads(done.stdout)
    problems = [x for x in found["problems"] if x.startswith("plugin 'p")]
    for at, (what, (_, said)) in enumerate(expected.items()):
        (mine,) = [x for x in problems if x.startswith(f"plugin 'p{at}' of dl-p{at} 1.2: ")]
        assert said in mine, (what, mine)
    assert len(problems) == len(expected)
    for text in ("by Python", "by number", "by a child", "at the end"):
        assert text in done.stderr


def test_torch_is_imported_whatever_they_do(wheels: Wheels) -> None:
    """A stub replaces torch, whose import calls this entry point."""
    expected = {**FAILURES, **UNDONE}
    for at, (source, _) in enumerate(expected.values()):
        wheels.add(f"dl-p{at}", GOOD + source, name=f"p{at}")
    code = (
        f"{NO_TORCH}import warnings\nfrom dl_core import _entry\n"
        "with warnings.catch_warnings(record=True) as caught:\n"
        "    warnings.simplefilter('always')\n    _entry.autoload()\n"
        "print(len([x for x in caught if 'plugin \\'p' in str(x.message)]))\n"
    )
    done = wheels.run(code, DL_PROBE_TIMEOUT="1")
    assert done.stdout == f"{len(expected)}\n", done.stderr

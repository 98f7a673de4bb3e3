"""Plugins that hang or crash during import or in a hook: reported and ignored."""

from __future__ import annotations

import json
import signal
import threading
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from stub_wheels import Wheels, foreign_plugins

from dl_core.manager import PluginManager
from dl_core.plugin_deadline import PluginDeadline, PluginTimeoutError

HOOK = "import pluggy\nhookimpl = pluggy.HookimplMarker('dl')\n"
LOOP = "while True:\n    pass\n"
IN_C = "import re\nre.match('(a*)*b', 'a' * 64)\n"
"""Holds the GIL, so that no Python signal handler runs."""
VENDOR = f"{HOOK}@hookimpl\ndef dl_vendor():\n    while True:\n        pass\n"
WAITS = "import threading\nthreading.Event().wait()\n"
GOOD = f"{HOOK}@hookimpl\ndef dl_cli_commands():\n    return []\n"
SHORT = 1.0
FOREIGN = foreign_plugins()


@pytest.fixture
def wheels(tmp_path: Path) -> Wheels:
    return Wheels(tmp_path)


def doctor(wheels: Wheels) -> dict[str, Any]:
    code = "from dl_core.cli import main; raise SystemExit(main(['doctor', '--json']))"
    done = wheels.run(code, DL_PROBE_TIMEOUT=str(SHORT))
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("source", [LOOP, WAITS, VENDOR], ids=["loop", "wait", "hook"])
def test_a_plugin_that_hangs_is_left_out_and_the_others_go_on(source: str, on_path: Wheels) -> None:
    on_path.add("dl-hangs", source, name="hangs")
    on_path.add("dl-zgood", GOOD, name="zgood")
    manager = PluginManager([*FOREIGN], SHORT)
    manager.load()
    manager.vendors()
    hangs, good = (x for x in manager.records if x.name not in FOREIGN)
    assert (hangs.status, good.status) == ("failed", "loaded")
    assert hangs.problem is not None
    assert "plugin 'hangs' of dl-hangs 1.2: it did not end within 1 seconds" in hangs.problem
    assert "DL_DISABLE=hangs" in hangs.problem and "DL_PROBE_TIMEOUT" in hangs.problem
    assert all(thread.name != "dl-plugins" for thread in threading.enumerate())


def test_a_process_that_ignores_interrupts_ends_a_plugin_too(on_path: Wheels) -> None:
    on_path.add("dl-hangs", LOOP, name="hangs")
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        manager = PluginManager([*FOREIGN], SHORT)
        manager.load()
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)
    (hangs,) = (x for x in manager.records if x.name not in FOREIGN)
    assert hangs.status == "failed" and "did not end within 1 seconds" in str(hangs.problem)


def test_an_interrupt_that_is_ignored_ends_no_plugin() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with PluginDeadline(60.0) as deadline:
            deadline.run("a plugin", lambda: signal.raise_signal(signal.SIGINT))
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (IN_C, "it did not end within 1 seconds"),
        (LOOP, "it did not end within 1 seconds"),
        (VENDOR, "it did not end within 1 seconds"),
        ("import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)", "it crashes: Segmentation"),
        ("import os\nos._exit(3)", "it ends the process, with status 3"),
    ],
    ids=["in C", "loop", "hook", "crash", "exit"],
)
def test_doctor_names_a_plugin_that_hangs_or_crashes(
    source: str, said: str, wheels: Wheels
) -> None:
    wheels.add("dl-odd", source, name="odd")
    wheels.add("dl-zgood", GOOD, name="zgood")
    found = doctor(wheels)
    status = {x["name"]: x["status"] for x in found["plugins"]}
    assert (status["odd"], status["zgood"]) == ("failed", "loaded")
    (problem,) = (x for x in found["problems"] if "plugin 'odd'" in x)
    assert f"plugin 'odd' of dl-odd 1.2: {said}" in problem


def test_doctor_names_all_of_several(wheels: Wheels) -> None:
    wheels.add("dl-a", "import os\nos._exit(3)", name="a")
    wheels.add("dl-b", "import os\nos.abort()", name="b")
    problems = "".join(doctor(wheels)["problems"])
    assert "plugin 'a'" in problems and "plugin 'b'" in problems


def test_the_trial_imports_nothing_from_a_folder_that_others_can_write(wheels: Wheels) -> None:
    wheels.add("dl-zgood", GOOD, name="zgood")
    planted = wheels.root / "open"
    planted.mkdir()
    for name in ("pluggy.py", "dl_core.py", "diopi_proto.py"):
        (planted / name).write_text(f"open({str(wheels.root / 'ran')!r}, 'w')")
    planted.chmod(0o777)
    code = (
        "import sys; from dl_core.plugin_trial import troublemakers; "
        f"sys.path.insert(0, {str(planted)!r}); print(troublemakers([], 30))"
    )
    assert wheels.run(code).stdout.splitlines()[-1] == "{}"
    assert not (wheels.root / "ran").exists()


def test_code_that_ends_in_time_is_not_touched() -> None:
    interrupt = partial(signal.raise_signal, signal.SIGINT)
    with PluginDeadline(60) as deadline:
        assert [deadline.run("it", lambda: n) for n in (1, 2)] == [1, 2]  # noqa: B023 - called now
        with pytest.raises(KeyboardInterrupt):
            deadline.run("it", interrupt)


def test_a_deadline_can_be_used_again_after_it_has_ended_something() -> None:
    def endless() -> None:
        while True:
            pass

    with PluginDeadline(0.01) as deadline:
        for _ in range(3):
            with pytest.raises(PluginTimeoutError, match=r"within 0\.01 seconds"):
                deadline.run("it", endless)


def test_elsewhere_than_on_the_main_thread_the_culprit_is_named(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    ended = threading.Event()

    def work() -> None:
        deadline = PluginDeadline(0.01)
        report = deadline._report
        monkeypatch.setattr(deadline, "_report", lambda: (report(), ended.set()))
        with deadline:
            deadline.run("plugin 'slow' of dl-slow 1", lambda: ended.wait(60))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join(60)
    assert not thread.is_alive()
    assert "plugin 'slow' of dl-slow 1 has not finished within 0.01 seconds" in caplog.text

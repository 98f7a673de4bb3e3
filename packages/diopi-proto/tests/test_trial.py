"""Trials of libraries: this process learns the outcome and is not affected by it."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

import diopi_proto
from diopi_proto import AbiMismatchError, TrialUnavailableError, VendorLoadError
from diopi_proto.trial import Trial, run, try_library
from diopi_proto.trial.result import read_report

Compile = Callable[..., Path]
Behaves = Callable[..., Path]
FIXTURE = Path(__file__).parent / "fixtures" / "operators.inc"
OPERATORS = FIXTURE.read_text().count("DL_OPERATOR(ops, ")


@pytest.fixture
def behaves(build: Compile, copied: Callable[[Path], Path]) -> Behaves:
    """``behaves(AT_LOAD="exit(0)")`` compiles a library for the test."""

    def compile_behavior(**actions: str) -> Path:
        flags = [f"-D{place}={action}" for place, action in actions.items()]
        return copied(build("behaves.c", *flags, "-Wno-unused-function"))

    return compile_behavior


def run_trial(path: Path, seconds: float = 30) -> Trial:
    return try_library(path, timeout=seconds)


def test_a_good_library_is_described(build: Compile) -> None:
    trial = run_trial(build("vendor.cpp"))
    assert trial.ok and trial.problem == ""
    assert (trial.name, trial.version, trial.device_count) == ("fixture", "1.2.3", 2)
    assert trial.said == "hello from fixture"
    assert [device.name for device in trial.devices] == ["fixture 0", "fixture 1"]
    assert trial.bound == OPERATORS and trial.mismatched == []
    assert str(build("vendor.cpp")) in trial.files
    trial.check()


def test_operators_with_another_signature_are_reported(build: Compile) -> None:
    trial = run_trial(build("vendor.cpp", "-DFIXTURE_FINGERPRINT=1"))
    assert trial.mismatched == ["diopiFill"] and trial.bound == OPERATORS - 1


def test_operators_that_the_contract_does_not_have_are_listed(build: Compile) -> None:
    trial = run_trial(build("vendor.cpp", "-DFIXTURE_NEWER=1"))
    assert trial.unknown == ["diopiFromTheFuture"] and trial.bound == OPERATORS
    assert run_trial(build("vendor.cpp")).unknown == []


@pytest.mark.parametrize(
    ("place", "stage"),
    [
        ("AT_LOAD", "loaded"),
        ("AT_ENTRY", "asked for an instance"),
        ("AT_OPERATORS", "asked for its operators"),
        ("AT_COUNT", "asked how many devices it has"),
        ("AT_PROPERTIES", "asked for the properties of its devices"),
    ],
)
@pytest.mark.parametrize(
    ("action", "said"),
    [
        ("exit(0)", "it ended the process with status 0 while being"),
        ("_exit(0)", "it ended the process with status 0 while being"),
        ("_exit(7)", "it ended the process with status 7 while being"),
        ("raise(SIGSEGV)", "it crashed with SIGSEGV while being"),
        ("abort()", "it crashed with SIGABRT while being"),
        ("hang()", "it took longer than 0.5 seconds while being"),
    ],
    ids=["exit", "_exit", "_exit 7", "crash", "abort", "hang"],
)
def test_the_failure_names_what_a_library_did_and_when(
    behaves: Behaves, place: str, stage: str, action: str, said: str
) -> None:
    trial = run_trial(behaves(**{place: action}), 0.5 if action == "hang()" else 30)
    assert not trial.ok and f"{said} {stage}" in trial.failure
    with pytest.raises(VendorLoadError, match=stage):
        trial.check()


@pytest.mark.parametrize("action", ["raise(SIGSEGV)", "*(volatile char*)8 = 0", "hang(1)"])
def test_a_driver_that_crashes_is_named(behaves: Behaves, tmp_path: Path, action: str) -> None:
    """The driver that crashed is named, not the vendor library that loads it."""
    code = f"""
#include <signal.h>
static int hang(int depth) {{ volatile char a[4096]; a[0] = 1; return hang(depth + 1) + a[0]; }}
static void __attribute__((constructor)) begin(void) {{ {action}; (void)hang; }}
"""
    source, driver = tmp_path / "driver.c", tmp_path / "libdriver.so.1"
    source.write_text(code)
    command = ["cc", "-shared", "-fPIC", "-O0", "-w", str(source), "-o", str(driver)]
    subprocess.run(command, check=True)
    library = behaves(AT_COUNT=f'dlopen("{driver}",2)')
    assert run_trial(library).failure == (
        "it crashed with SIGSEGV while being asked how many devices it has; the crash was in "
        f"{driver}, which it loads"
    )


def test_a_library_that_crashes_itself_is_named_once(behaves: Behaves) -> None:
    library = behaves(AT_COUNT="raise(SIGSEGV)")
    assert run_trial(library).failure.endswith("asked how many devices it has")


@pytest.mark.parametrize(
    ("action", "complaint"),
    [
        ("*count = -1", "-1 devices"),
        ("*count = 2147483647", "2147483647 devices"),
        ("*(volatile char*)8 = 0", "SIGSEGV"),
    ],
)
def test_an_impossible_number_of_devices_is_reported_at_once(
    behaves: Behaves, action: str, complaint: str
) -> None:
    trial = run_trial(behaves(AT_COUNT=action))
    assert complaint in trial.failure and trial.devices == ()


def test_a_broken_interface_is_reported_as_such(behaves: Behaves) -> None:
    for slot, address, what in (
        ("device_count", "&table", "which is not code"),
        ("operators", "16", "which is not memory of this process"),
    ):
        trial = run_trial(behaves(AT_TABLE=f"table.{slot} = (void*){address}"))
        assert trial.defect and f"whose {slot} is at 0x" in trial.failure
        assert trial.failure.endswith(what)
        with pytest.raises(AbiMismatchError, match="violates the vendor interface"):
            trial.check()


def test_many_devices_are_counted_and_the_first_ones_described(behaves: Behaves) -> None:
    trial = run_trial(behaves(AT_COUNT="*count = 1000"))
    assert trial.ok and trial.device_count == 1000 and len(trial.devices) == 64


def test_a_device_that_is_not_described_has_the_vendors_name(
    behaves: Behaves, build: Compile
) -> None:
    trial = run_trial(behaves(AT_TABLE="table.device_properties = NULL", AT_COUNT="*count = 2"))
    assert [(d.index, d.name, d.total_memory) for d in trial.devices] == [
        (0, trial.name, 0),
        (1, trial.name, 0),
    ]
    legacy = build(
        "legacy.c", "-DFIXTURE_NUMBER=4", "-DFIXTURE_WEAK=0", legacy=True, exports=("diopi*",)
    )
    (device,) = try_library(legacy, legacy=True).devices
    assert device.name == "legacy4"


def test_a_daemon_is_not_waited_for_and_does_not_stay(behaves: Behaves, tmp_path: Path) -> None:
    for place in ("AT_LOAD", "AT_COUNT"):
        file = tmp_path / f"{place}.pid"
        os.mkfifo(file)
        reader = os.open(file, os.O_RDONLY | os.O_NONBLOCK)
        trial = run_trial(behaves(**{place: f'start_daemon("{file}")'}))
        assert trial.ok, trial.problem
        pid = os.read(reader, 20)
        assert not pid or not Path(f"/proc/{int(pid)}").exists()
        os.close(reader)


def test_a_library_that_becomes_a_daemon_itself_is_reported(behaves: Behaves) -> None:
    """A forked child continues, but the trial's process has ended."""
    trial = run_trial(behaves(AT_LOAD="if (fork() != 0) _exit(0)"))
    assert "ended the process with status 0" in trial.failure


@pytest.mark.parametrize("descriptor", [1, 2])
def test_endless_output_is_given_up_and_not_kept(behaves: Behaves, descriptor: int) -> None:
    trial = run_trial(behaves(AT_LOAD=f"write_forever({descriptor})"), 0.5)
    assert "took longer" in trial.failure and len(trial.failure) < 1000


def test_words_before_a_crash_are_repeated(behaves: Behaves) -> None:
    trial = run_trial(behaves(AT_LOAD='dprintf(2, "first\\nno firm\\033[2Jware\\n"), abort()'))
    assert r'(it said: "no firm\x1b[2Jware")' in trial.failure


def test_a_library_that_closes_what_is_open_is_a_good_one(behaves: Behaves) -> None:
    """Daemons close low descriptors; the report has a high one."""
    assert run_trial(behaves(AT_LOAD="for (int i = 0; i < 64; ++i) close(i)")).ok
    # Without a report there is no verdict.
    assert "while being loaded" in run_trial(behaves(AT_LOAD="close_all()")).failure


def test_what_a_library_changes_has_no_effect_here(behaves: Behaves, tmp_path: Path) -> None:
    before = (Path.cwd(), os.umask(0o22), os.environ.copy())
    os.umask(before[1])
    action = (
        '(void)!chdir("/proc"), umask(0777), setenv("DL_X", "1", 1), setsid(), '
        "setrlimit(RLIMIT_NOFILE, &(struct rlimit){8, 8})"
    )
    assert run_trial(behaves(AT_LOAD=action)).ok
    # Stopped, and in another session.
    stopped = run_trial(behaves(AT_LOAD=f"{action}, raise(SIGSTOP)"), 0.5)
    assert "took longer" in stopped.failure
    assert (Path.cwd(), os.umask(before[1]), os.environ.copy()) == before


def in_process(library: Path, prelude: str) -> str:
    """Run the trial in a new process after ``prelude``, and return its report."""
    code = f"""
import os, signal, sys
from diopi_proto.trial import try_library
{textwrap.dedent(prelude)}
trial = try_library({str(library)!r}, timeout=30)
os.write(report, (trial.problem or "good").encode())
"""
    reader, writer = os.pipe()
    roots = os.pathsep.join([str(Path(diopi_proto.__file__).parents[1]), *sys.path])
    with subprocess.Popen(
        [sys.executable, "-c", f"report = {writer}\n{code}"],
        pass_fds=(writer,),
        env={**os.environ, "PYTHONPATH": roots},
    ) as process:
        os.close(writer)
        with os.fdopen(reader) as file:
            said = file.read()
        assert process.wait() == 0
    return said


@pytest.mark.parametrize(
    "prelude",
    [
        "signal.signal(signal.SIGCHLD, signal.SIG_IGN)",
        "signal.pthread_sigmask(signal.SIG_SETMASK, signal.valid_signals())",
        "[os.close(i) for i in (0, 1, 2)]",
        "[os.close(i) for i in (0, 2)]",
        "import threading; [threading.Thread(target=threading.Event().wait, daemon=True).start() "
        "for _ in range(8)]",
        "os.chdir('/'); os.environ['PATH'] = ''",
        "sys.executable = '/usr/bin/some-program'",
    ],
    ids=[
        "SIGCHLD ignored",
        "signals blocked",
        "closed",
        "0 and 2 closed",
        "threads",
        "no path",
        "embedded",
    ],
)
def test_the_state_of_this_process_does_not_matter(behaves: Behaves, prelude: str) -> None:
    assert in_process(behaves(), prelude) == "good"
    assert "SIGSEGV" in in_process(behaves(AT_COUNT="raise(SIGSEGV)"), prelude)
    assert "status 0" in in_process(behaves(AT_COUNT="exit(0)"), prelude)


def test_ctrl_c_ends_a_trial_and_leaves_no_process(behaves: Behaves, tmp_path: Path) -> None:
    fifo = tmp_path / "pid"
    os.mkfifo(fifo)
    action = f'FILE* f = fopen("{fifo}", "w"); fprintf(f, "%d", getpid()); fclose(f); hang()'
    code = f"""
import signal
from diopi_proto.trial import try_library
signal.signal(signal.SIGINT, signal.default_int_handler)
try:
    try_library({str(behaves(AT_LOAD=action))!r}, timeout=100)
except KeyboardInterrupt:
    print("interrupted")
"""
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as process:
        child = int(fifo.read_text())  # now it hangs
        process.send_signal(signal.SIGINT)
        stdout, _ = process.communicate(timeout=60)
    assert stdout == b"interrupted\n"
    _wait_until_gone(child)


def test_a_killed_process_takes_its_trial_along(behaves: Behaves, tmp_path: Path) -> None:
    fifo = tmp_path / "pid"
    os.mkfifo(fifo)
    action = f'FILE* f = fopen("{fifo}", "w"); fprintf(f, "%d", getpid()); fclose(f); hang()'
    code = f"""
from diopi_proto.trial import try_library
try_library({str(behaves(AT_LOAD=action))!r}, timeout=100)
"""
    with subprocess.Popen([sys.executable, "-c", code]) as process:
        child = int(fifo.read_text())
        process.kill()
    _wait_until_gone(child)


def _wait_until_gone(pid: int) -> None:
    """Wait until a process has ended; the test hangs if nothing ends it."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    assert select.select([handle], [], [], 60)[0], f"process {pid} is left"
    os.close(handle)


def test_a_process_that_cannot_be_started_is_reported(
    behaves: Behaves, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*arguments: object, **named: object) -> None:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(subprocess, "Popen", fails)
    with pytest.raises(TrialUnavailableError, match="Resource temporarily unavailable"):
        run_trial(behaves())


@pytest.mark.parametrize(
    "lines",
    [
        [],
        ["[" * 200_000],
        ["null", "3", '"end"'],
        ['{"vendor": 3}', '{"done": true}', '{"end": "exit", "code": 0}'],
        ['{"device": {"index": "x"}}', '{"done": true}', '{"end": "exit", "code": 0}'],
        ['{"done": true}', '{"end": "signal", "code": "x"}'],
        ['{"done": 1}', '{"end": "exit", "code": 0}'],
        ['{"end": "exit", "code": 0}'],
    ],
)
def test_a_report_that_makes_no_sense_is_a_failure(lines: list[str]) -> None:
    """A report may be invalid, because the library runs in the process that writes it."""
    trial = read_report(Path("/x"), False, lines, "", 1)
    assert trial.failure and not trial.ok


def test_the_child_has_no_folder_to_import_from_but_ours(behaves: Behaves) -> None:
    roots = run._roots()
    assert roots[0] == str(Path(diopi_proto.__file__).resolve().parents[1])
    assert len(roots) <= 2

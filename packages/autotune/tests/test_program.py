"""A timed program keeps its output and status, and never outlives its tuner."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from dl_autotune import TuningError
from dl_autotune.operators.program import run


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def test_output_and_status_of_a_program_are_kept() -> None:
    done = run(python("import os; print(os.environ['SAID']); raise SystemExit(3)"), {"SAID": "yes"})
    assert (done.output, done.status) == ("yes\n", 3)
    assert done.seconds > 0
    assert run(["sh", "-c", "kill -TERM $$"], {}).status == -signal.SIGTERM


def test_output_that_is_not_utf_8_is_recorded() -> None:
    done = run(python(r"import sys; sys.stdout.buffer.write(b'loss \xff\xfe 1.5')"), {})
    assert done.output.encode(errors="surrogateescape") == b"loss \xff\xfe 1.5"


def test_a_missing_program_is_named() -> None:
    with pytest.raises(TuningError, match="no-such-program cannot be started: No such file"):
        run(["no-such-program"], {})


def test_files_next_to_a_program_are_not_imported_by_the_guard(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "json.py").write_text("raise SystemExit(9)")
    monkeypatch.chdir(tmp_path)
    assert run(["true"], {}).status == 0


@pytest.mark.parametrize("by", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_program_ends_with_the_tuner_and_so_does_what_it_started(
    tmp_path: Path, by: signal.Signals
) -> None:
    fifo = tmp_path / "pids"
    os.mkfifo(fifo)
    # The first process runs in its own session, and its parent has exited.
    script = f"(setsid sh -c 'echo $$ > {fifo}; exec sleep 600' &); echo $$ > {fifo}; sleep 600"
    code = f"from dl_autotune.operators.program import run; run(['sh', '-c', {script!r}], {{}})"
    tuner = subprocess.Popen(python(code), stderr=subprocess.DEVNULL)
    pids: list[int] = []
    while len(pids) < 2:
        pids += map(int, fifo.read_text().split())
    files = [os.pidfd_open(pid) for pid in pids]
    assert select.select(files, [], [], 0)[0] == []
    tuner.send_signal(by)
    tuner.wait()
    for file in files:
        # Readable once the process has ended.
        assert select.select([file], [], [], 60)[0] == [file]
        os.close(file)

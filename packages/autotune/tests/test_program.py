"""A timed program keeps its output and status.

Its end with the tuner is tested with :mod:`diopi_proto.worker`.
"""

from __future__ import annotations

import signal
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

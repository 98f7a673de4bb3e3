"""Readers of files that users name: a FIFO, a device or an endless file is an error that names it.

Each reader is called in this process: if it waits for a FIFO, or reads a device, the test hangs.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Callable
from pathlib import Path

import pytest

import dl_autotune
import dl_conformance
import dl_core
import dl_dicp
import dl_gpu_sim
import dl_optools
from diopi_proto.adaptor import read_adaptor
from diopi_proto.elf import read_elf, read_identity
from dl_autotune.errors import TuningError
from dl_autotune.runners.database import Database
from dl_autotune.spaces.deepgen import read_deepgen
from dl_autotune.spaces.recorded import read_recording
from dl_autotune.spaces.t1 import read_t1
from dl_conformance.captured import read_cases
from dl_conformance.report_file import read_report
from dl_conformance.target import read_known_failures
from dl_core.tuned_choices import read_layers
from dl_gpu_sim.command import list_kernels
from dl_gpu_sim.report import Report
from dl_graph import load, read_inputs
from dl_graph.__main__ import main as graph_command
from dl_optools.bisect.state import State
from dl_optools.bundle import BundleError
from dl_optools.bundle.location import FILE
from dl_optools.bundle.reader import read as read_bundle
from dl_optools.launching.baseline import read as read_baseline
from dl_optools.one_iter.folder import Reader as StepReader

PACKAGES = (dl_autotune, dl_conformance, dl_core, dl_dicp, dl_gpu_sim, dl_optools)


def layers(path: Path) -> None:
    found = read_layers([("user", path)], "cpu")
    if found.unreadable:
        raise OSError(found.unreadable[0])


def in_folder(name: str, read: Callable[[Path], object]) -> Callable[[Path], object]:
    """Return a reader of one file in a folder."""

    def reader(path: Path) -> object:
        folder = path.with_name("folder")
        folder.mkdir()
        path.rename(folder / name)
        return read(folder)

    return reader


READERS: dict[str, Callable[[Path], object]] = {
    "graph": load,
    "inputs": read_inputs,
    "adaptor": read_adaptor,
    "library": read_elf,
    "library's machine": read_identity,
    "T1": read_t1,
    "DeepGen": read_deepgen,
    "T4": read_recording,
    "packed T4": lambda path: read_recording(path.rename(path.with_suffix(".json.gz"))),
    "database of trials": Database,
    "tuned choices": layers,
    "captured cases": read_cases,
    "conformance report": read_report,
    "known failures": read_known_failures,
    "simulator's report": lambda path: Report.read([path]),
    "state of a bisection": State.load,
    "baseline": read_baseline,
    "bundle": in_folder(FILE, read_bundle),
    "recorded step": in_folder("index.json", StepReader),
}
IRREGULAR: dict[str, Callable[[Path], object]] = {
    "FIFO": os.mkfifo,
    "device": lambda path: path.symlink_to("/dev/zero"),
}


@pytest.mark.parametrize("kind", IRREGULAR)
@pytest.mark.parametrize("reader", READERS)
def test_what_is_not_a_regular_file_is_refused(reader: str, kind: str, tmp_path: Path) -> None:
    path = tmp_path / "given"
    IRREGULAR[kind](path)
    with pytest.raises(Exception, match=r"not a regular file|symbolic link"):
        READERS[reader](path)


@pytest.mark.parametrize("command", ["graph", "kernels"])
def test_commands_say_so_in_a_sentence(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "given"
    os.mkfifo(path)
    code = graph_command(["verify", str(path)]) if command == "graph" else list_kernels(path)
    assert code == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert str(path) in line and "it is a FIFO, not a regular file" in line


UNBOUNDED = set(READERS) - {
    # Mapped, or bounded by the free memory: these files may have any size.
    *("graph", "inputs", "library", "library's machine", "captured cases"),
    *("database of trials", "tuned choices"),
}


@pytest.mark.parametrize("reader", sorted(UNBOUNDED))
def test_a_file_of_a_terabyte_is_refused_by_its_size(reader: str, tmp_path: Path) -> None:
    path = tmp_path / "given"
    with path.open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(Exception, match="1,099,511,627,776 bytes or more"):
        READERS[reader](path)


def test_a_small_file_that_unpacks_to_a_huge_one_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import gzip

    monkeypatch.setattr("dl_autotune.spaces.result_file.DOCUMENT_BYTES", 1 << 20)
    path = tmp_path / "found.json.gz"
    path.write_bytes(gzip.compress(b" " * (2 << 20)))
    with pytest.raises(TuningError, match="it holds more than 1,048,576 bytes"):
        read_recording(path)


def test_a_payload_that_is_a_device_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BundleError, match=r"there is no bundle\.json"):
        read_bundle(tmp_path)


def calls(tree: ast.AST) -> list[tuple[int, str]]:
    """Return the lines of calls that write to the standard streams, or read a whole file."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            found.append((node.lineno, ast.unparse(node.func)))
    return found


# JSON, which ``json.dumps`` escapes, or lines to which ``printable`` has been applied.
WRITES_ITSELF = {
    *("dl_core/cli.py", "dl_core/commands_run.py", "dl_core/commands_builtin.py"),
    *("dl_optools/isolation/options.py", "dl_optools/commands/tool.py"),
    "dl_optools/commands/timing.py",
    # A standalone script, without this package.
    "dl_optools/replay/script_template.py",
}


def test_commands_print_through_the_functions_that_escape() -> None:
    for package in PACKAGES:
        folder = Path(package.__file__ or "").parent
        for path in sorted(folder.rglob("*.py")):
            name = f"{folder.name}/{path.relative_to(folder)}"
            if name in WRITES_ITSELF:
                continue
            raw = [
                f"{name}:{line} calls {called}"
                for line, called in calls(ast.parse(path.read_text(encoding="utf-8")))
                if called in ("sys.stdout.write", "sys.stderr.write", "sys.stdout.writelines")
            ]
            assert not raw, f"{raw[0]}; use write_output or write_error of diopi_proto.text"

"""A failing graph is reduced to the smallest one that still fails, with the failing inputs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from diopi_proto import Vendor, load_vendor
from dl_core.cli import main
from dl_dicp.minimizing import failing
from dl_dicp.minimizing.minimize import Failing, minimize
from dl_graph import GraphBuilder, Session, load
from dl_graph.errors import GraphError
from dl_vendor_cpu.plugin import dl_vendor


def cpu() -> Vendor:
    descriptor = dl_vendor()
    assert descriptor is not None
    return load_vendor(descriptor.library)


def chain() -> Failing:
    """Return a graph of five consecutive calls."""
    builder = GraphBuilder()
    entry = builder.entry("main")
    x = entry.input("x", (4, 8), "float32")
    steps = [x]
    for name in ("Exp", "Sqrt", "Log", "Sin", "Cos"):
        made = entry.empty((4, 8), "float32")
        entry.call(f"diopi{name}", made, steps[-1])
        steps.append(made)
    entry.output("y", steps[-1])
    values = np.random.default_rng(0).random((4, 8), np.float32)
    return Failing(builder.build(), {"x": values})


def names(given: Failing) -> list[str]:
    return [name for name, _ in given.graph.entry("main")["calls"]]


def test_the_calls_that_fail_are_left_with_their_values() -> None:
    vendor = cpu()
    given = chain()
    tried: list[int] = []

    def fails(candidate: Failing) -> bool:
        tried.append(candidate.calls)
        with Session(candidate.graph, vendor) as session:
            session.run("main", dict(candidate.inputs))
        return "diopiLog" in names(candidate)

    found = minimize(given, vendor, fails)
    assert names(found) == ["diopiLog"] and tried[0] == 5
    (value,) = found.inputs.values()
    wanted = np.sqrt(np.exp(given.inputs["x"]))
    np.testing.assert_allclose(value.view(np.float32).reshape(4, 8), wanted, rtol=1e-6)
    with Session(found.graph, vendor) as session:
        (made,) = session.run("main", dict(found.inputs)).values()
    np.testing.assert_allclose(made, np.log(wanted), rtol=1e-5, atol=1e-6)


def test_two_calls_that_fail_together_stay() -> None:
    vendor = cpu()
    together = {"diopiExp", "diopiSin"}
    found = minimize(chain(), vendor, lambda candidate: together <= set(names(candidate)))
    assert names(found) == ["diopiExp", "diopiSin"]


def test_one_that_does_not_fail_is_refused() -> None:
    vendor = cpu()
    with pytest.raises(GraphError, match="does not fail with these inputs"):
        minimize(chain(), vendor, lambda _: False)


@pytest.mark.parametrize(
    ("script", "expected"), [("true", False), ("exit 3", True), ("kill -SEGV $$", True)]
)
def test_a_command_fails_by_its_status(script: str, expected: bool) -> None:
    assert failing.fails_by_command(["sh", "-c", script])(chain()) is expected


def test_a_command_that_hangs_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(failing, "TIMEOUT", 0.2)
    assert failing.fails_by_command(["sleep", "600"])(chain())


def test_a_command_that_cannot_be_started_is_named() -> None:
    with pytest.raises(OSError, match="--fails: /nowhere/x cannot be started: No such file"):
        failing.fails_by_command(["/nowhere/x"])(chain())


def test_the_command_finds_what_loses_digits(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """exp(x) + 10⁸ - 10⁸ is right only in float64; the exponential is not to blame."""
    builder = GraphBuilder()
    entry = builder.entry("main")
    x, big = entry.input("x", (4, 8), "float32"), entry.input("big", (4, 8), "float32")
    exponential, added, left = (entry.empty((4, 8), "float32") for _ in range(3))
    entry.call("diopiExp", exponential, x)
    entry.call("diopiAdd", added, exponential, big, 1)
    entry.call("diopiSub", left, added, big, 1)
    entry.output("y", left)
    builder.build().save(tmp_path / "wrong.dlg")
    values = np.random.default_rng(0).random((4, 8), np.float32)
    np.savez(tmp_path / "inputs.npz", x=values, big=np.full((4, 8), 1e8, np.float32))
    paths = [str(tmp_path / name) for name in ("wrong.dlg", "inputs.npz")]
    small = str(tmp_path / "small.dlg")
    assert main(["dicp", "minimize", *paths, "-o", small]) == 0
    assert "2 of 3 calls" in capsys.readouterr().out
    assert [name for name, _ in load(small).entry("main")["calls"]] == ["diopiAdd", "diopiSub"]
    small = str(tmp_path / "smaller.dlg")
    assert main(["dicp", "minimize", *paths, "-o", small, "--fails", "false"]) == 0
    assert "1 of 3 calls" in capsys.readouterr().out
    assert main(["dicp", "minimize", *paths, "-o", small, "--force", "--fails", "true"]) == 1
    assert "does not fail with these inputs" in capsys.readouterr().err


def test_the_command_replaces_no_file_and_refuses_nonsense(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    graph, inputs, small = (str(tmp_path / name) for name in ("a.dlg", "a.npz", "small.dlg"))
    chain().graph.save(Path(graph))
    np.savez(inputs, **chain().inputs)
    before = Path(graph).read_bytes(), Path(inputs).read_bytes()
    Path(tmp_path / "small.npz").write_text("mine")
    for output, options, why in (
        (graph, [], "a.dlg exists; --force replaces it"),
        (small, [], "small.npz exists; --force replaces it"),
        (str(tmp_path / "x.npz"), [], "x.npz must end with .dlg"),
        (
            str(tmp_path / "x.dlg"),
            ["--steps", "-5"],
            "--steps must be a finite number >= 0, not -5",
        ),
        (
            str(tmp_path / "x.dlg"),
            ["--steps", "nan"],
            "--steps must be a finite number >= 0, not nan",
        ),
        (str(tmp_path / "x.dlg"), ["--fails", ""], "--fails needs a command, not an empty"),
    ):
        assert main(["dicp", "minimize", graph, inputs, "-o", output, *options]) == 2
        assert why in capsys.readouterr().err
    assert main(["dicp", "minimize", graph, graph, "-o", str(tmp_path / "x.dlg")]) == 2
    assert "a.dlg is not an .npz file of named inputs" in capsys.readouterr().err
    assert (Path(graph).read_bytes(), Path(inputs).read_bytes()) == before
    assert (tmp_path / "small.npz").read_text() == "mine"

"""Writes of cases: inputs are never written, and outputs and temporaries always."""

from __future__ import annotations

from pathlib import Path

import pytest

from library_attacks import refused, run
from test_library_generator import project


def softmax(folder: Path, *calls: str, **temporaries: str) -> Path:
    """Return a project whose softmax has these calls and temporaries."""
    project(folder)
    listed = "".join(f"    - {call!r}\n" for call in calls)
    made = "".join(f"    {name}: {text!r}\n" for name, text in temporaries.items())
    text = f"diopiSoftmax:\n  calls:\n{listed}" + (f"  temporaries:\n{made}" if made else "")
    (folder / "operators" / "softmax.yaml").write_text(text)
    return folder


FILL = "toyCopy($t, input)"
USE = "toySoftmax($t, dim, out)"


@pytest.mark.parametrize("view", ["input", "t(input)", "flat(input)", "@entry([input, out], 0)"])
def test_view_of_an_input_is_an_input(tmp_path: Path, view: str) -> None:
    folder = softmax(tmp_path / "toy", "toyFill($t, 0)", "toySoftmax(input, dim, out)", t=view)
    assert "input is an input of the operator" in refused(folder)


def test_view_of_an_output_writes_the_output(tmp_path: Path) -> None:
    folder = softmax(tmp_path / "toy", "toySoftmax(input, dim, $t)", t="flat(out)")
    assert run(folder)[0] == 0


def test_view_of_an_input_may_be_read(tmp_path: Path) -> None:
    assert run(softmax(tmp_path / "toy", USE, t="flat(input)"))[0] == 0


@pytest.mark.parametrize(
    "conditions",
    [
        ["ndim(input) == 2"],
        ["size(input, 0) == 3 and size(input, 0) == 4"],
        ["ndim(input) == 1", "ndim(input) == 2"],
        ["ndim(input) == 1 and dim == 0", "not ndim(input) == 1"],
    ],
)
def test_output_that_is_not_always_written_is_refused(
    tmp_path: Path, conditions: list[str]
) -> None:
    calls = [f"toySoftmax(input, dim, out) if {condition}" for condition in conditions]
    assert "the output out is written only under a condition" in refused(
        softmax(tmp_path / "toy", *calls)
    )


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("dim == 0", "dim != 0"),
        ("dim < 0", "dim >= 0"),
        ("dim > 1", "dim <= 1"),
        ("dim == 0 and dim < 5", "not (dim == 0 and dim < 5)"),
    ],
)
def test_opposite_conditions_write_always(tmp_path: Path, one: str, other: str) -> None:
    calls = [f"toySoftmax(input, dim, out) if {condition}" for condition in (one, other)]
    assert run(softmax(tmp_path / "toy", *calls))[0] == 0


def test_temporary_of_a_condition_is_read_under_the_same(tmp_path: Path) -> None:
    calls = [f"{FILL} if dim == 0", f"{USE} if dim == 0 and ndim(input) == 2"]
    rest = "toySoftmax(input, dim, out)"
    assert run(softmax(tmp_path / "toy", *calls, rest, t="like input"))[0] == 0
    calls[1] = f"{USE} if dim == 1"
    found = refused(softmax(tmp_path / "other", *calls, rest, t="like input"))
    assert "reads $t, which earlier calls write only under a condition" in found


PART = "toyFill(slice({0}, 0, 0, 1, 1), 0)"
REST = "toyFill(slice({0}, 0, 1, 3, 1), 0)"


def test_part_of_a_temporary_is_not_the_whole(tmp_path: Path) -> None:
    fill, rest = PART.format("$t"), REST.format("$t")
    found = refused(softmax(tmp_path / "toy", fill, USE, t="like input"))
    assert "reads $t, of which earlier calls write only one part" in found
    assert run(softmax(tmp_path / "both", fill, rest, USE, t="like input"))[0] == 0
    same = "toySoftmax(slice($t, 0, 0, 1, 1), dim, out)"
    assert run(softmax(tmp_path / "same", fill, same, t="like input"))[0] == 0


def test_part_of_an_output_is_not_the_whole(tmp_path: Path) -> None:
    fill = "toySoftmax(input, dim, select(out, 0, 0))"
    assert "only one part of the output out is written" in refused(softmax(tmp_path / "toy", fill))


def test_view_of_a_part_writes_that_part(tmp_path: Path) -> None:
    folder = softmax(tmp_path / "toy", "toySoftmax(input, dim, $t)", t="select(out, 0, 0)")
    assert "only one part of the output out is written" in refused(folder)

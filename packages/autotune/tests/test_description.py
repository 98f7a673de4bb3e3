"""Descriptions of kernels: each mistake is one error that names the field."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from diopi_proto.tolerance import OpClass
from dl_autotune import Expected, KernelError, Launch, SearchSpace, TunableKernel
from dl_autotune.kernel import load_kernel
from dl_autotune.runners.correctness import check_results, seeded_arguments
from dl_autotune.runners.description import launch_of

FILE = Path(__file__).parent / "kernels" / "twice.py"
SHAPE = {"count": 4}


def arguments(shape: Any, rng: np.random.Generator) -> dict[str, Any]:
    return {"a": rng.random(shape["count"]), "b": np.empty(shape["count"])}


def kernel(**fields: Any) -> TunableKernel:
    given = {
        "source": FILE.with_suffix(".cpp"),
        "function": "twice",
        "space": SearchSpace({"MODE": range(7)}),
        "default": {"MODE": 0},
        "arguments": arguments,
        "outputs": ["b"],
        "reference": lambda given: {"b": Expected(2 * given["a"], OpClass.ROUNDING)},
        "launch": lambda config, shape: Launch(),
        "shape": SHAPE,
    }
    return TunableKernel(**{**given, **fields})


class Toolchain:
    """Fake toolchain: arrays stay in place, and launches write the right results."""

    class Array:
        def __init__(self, array: Any) -> None:
            self.array = array.copy()

        def read(self) -> Any:
            return self.array

        def intact(self) -> bool:
            return True

    buffer = Array


def twice(how: Launch, given: Any) -> None:
    given[1].array[:] = 2 * given[0].array


def check(made: TunableKernel) -> None:
    check_results(made, Toolchain(), twice, {"MODE": 0}, 1)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("field", "given", "message"),
    [
        ("source", 5, "source is 5: it should be the path"),
        ("function", 5, "function is 5: it should be the name"),
        ("function", "", "function is '': it should be"),
        ("space", {"MODE": [1]}, "space is {'MODE': .*: it should be a SearchSpace"),
        ("default", None, "default is None: it should be a mapping"),
        ("arguments", {"a": 1}, "arguments is {'a': 1}: it should be a function"),
        ("reference", None, "reference is None: it should be a function"),
        ("launch", Launch(), "launch is Launch.*: it should be a function"),
        ("outputs", "c", "outputs is 'c': it should be a list of names"),
        ("outputs", [1], r"outputs is \[1\]: it should be a list of names"),
        ("options", "-O2", "options is '-O2': it should be a list of words"),
        ("shape", [5], r"shape is \[5\]: it should be a mapping"),
        ("shape", {"m": 1.5}, r"shape is {'m': 1\.5}: it should be a mapping of names to integers"),
        ("checks", {"m": 1}, "checks is {'m': 1}: it should be a list of shapes"),
        ("checks", [5], "a shape of checks is 5: it should be a mapping"),
    ],
)
def test_a_field_of_another_type_is_named(field: str, given: Any, message: str) -> None:
    with pytest.raises(KernelError, match=message):
        kernel(**{field: given})


def test_a_source_may_be_a_text_and_numbers_those_of_numpy() -> None:
    made = kernel(
        source=str(FILE.with_suffix(".cpp")),
        default={"MODE": np.int64(1)},
        shape={"count": np.int32(4)},
    )
    made.check()
    same = kernel(default={"MODE": 1})
    assert made.identity() == same.identity()
    assert [type(each) for each in (*made.default.values(), *made.shape.values())] == [int, int]


def test_a_default_with_more_than_the_parameters_is_named() -> None:
    with pytest.raises(ValueError, match="parameters MODE: 'TILE' is unknown"):
        kernel(default={"MODE": 0, "TILE": 3}).check()


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"grid": 1.5}, r"grid of a Launch is 1\.5: it should be an integer, or up to three"),
        ({"block": (1, 2, 3, 4)}, "block of a Launch is"),
        ({"block": ()}, "block of a Launch is"),
        ({"grid": "4"}, "grid of a Launch is '4'"),
        ({"grid": True}, "grid of a Launch is True"),
        ({"shared_bytes": -1}, "shared_bytes of a Launch is -1"),
    ],
)
def test_a_launch_is_of_integers(fields: dict[str, Any], message: str) -> None:
    Launch((np.int64(3), 2), 32, 16)
    with pytest.raises(KernelError, match=message):
        Launch(**fields)


def stop(*_: object) -> None:
    raise SystemExit(0)


def changes(given: Any) -> dict[str, Expected]:
    given["a"] *= 2
    return {"b": Expected(given["a"], OpClass.ROUNDING)}


@pytest.mark.parametrize(
    ("field", "given", "message"),
    [
        ("reference", lambda given: None, "the reference gives None: it should give a mapping"),
        ("reference", lambda given: {"b": 5}, "the reference gives 5 for b: it should give an Exp"),
        ("reference", stop, r"the reference failed: SystemExit\(0\)"),
        ("reference", changes, "reference failed: it changes its arguments, .*: change a copy"),
        (
            "launch",
            lambda config, shape: 4,
            "launch of {'MODE': 0} gives 4: it should give a Launch",
        ),
        ("launch", lambda config, shape: None, "launch of {'MODE': 0} gives None"),
        ("launch", lambda config, shape: Launch(1.5), "grid of a Launch is 1.5"),  # type: ignore[arg-type]
        ("launch", lambda config: 4, "launch of {'MODE': 0} failed: TypeError"),
        ("launch", stop, "launch of {'MODE': 0} failed: SystemExit"),
        ("arguments", lambda shape, rng: None, "arguments of {'count': 4} gives None"),
        ("arguments", stop, "arguments of {'count': 4} failed: SystemExit"),
    ],
)
def test_an_error_in_a_function_of_a_kernel_is_named(field: str, given: Any, message: str) -> None:
    check(kernel())
    with pytest.raises(KernelError, match=message):
        check(kernel(**{field: given}))


def test_changes_by_a_reference_do_not_reach_the_kernel() -> None:
    def forces(given: Any) -> dict[str, Expected]:
        # Like torch, which writes even to read-only arrays.
        given["a"].flags.writeable = True
        return changes(given)

    check(kernel(reference=forces))


def test_arguments_may_be_changed_outside_of_the_reference() -> None:
    made = seeded_arguments(kernel(), SHAPE, 1)
    made["a"] *= 2
    assert launch_of(kernel(), {"MODE": 0}, SHAPE) == Launch()
    assert dataclasses.is_dataclass(kernel())


def test_a_file_that_ends_the_process_is_an_error(tmp_path: Path) -> None:
    file = tmp_path / "k.py"
    file.write_text("import sys; sys.exit(0)")
    with pytest.raises(KernelError, match=r"k\.py ends the process \(SystemExit\(0\)\)"):
        load_kernel(file)

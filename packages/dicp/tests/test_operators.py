"""`dl dicp test ops`: a sample of operators passes, and wrong results are reported."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from dl_core.cli import main
from dl_dicp import statistics
from dl_dicp.testing import operators
from dl_dicp.testing.agreement import difference
from dl_dicp.testing.exceptions import ExceptionsError, load, parse, unexpected
from dl_dicp.testing.operators import Case, Report, Unseeded, cases
from dl_dicp.testing.run import run_operators
from dl_dicp.testing.selection import Selection, SelectionError

# Torch gives many warnings while it lists and compiles its operators.
pytestmark = pytest.mark.filterwarnings("ignore")

SAMPLE = Selection(300, "2")


def case(name: str) -> Case:
    return next(each for each in cases() if each.name == name)


@pytest.mark.parametrize("shapes", ["static", "dynamic"])
def test_a_sample_of_torchs_operators_is_as_eager(shapes: str) -> None:
    said: list[str] = []
    totals = run_operators(shapes, SAMPLE, said.append)
    assert totals.tests >= 2
    assert totals.whole >= 1
    assert not totals.wrong
    assert said == [totals.text(f"operators, {shapes} shapes")]


def wrong_values(results: list[Any]) -> list[Any]:
    return [x + 1 if isinstance(x, torch.Tensor) else x for x in results]


def wrong_dtype(results: list[Any]) -> list[Any]:
    return [x.double() if isinstance(x, torch.Tensor) else x for x in results]


def lost_result(results: list[Any]) -> list[Any]:
    return [None if isinstance(x, torch.Tensor) else x for x in results]


@pytest.mark.parametrize("fault", [wrong_values, wrong_dtype, lost_result])
def test_a_wrong_program_is_reported(fault: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from dl_dicp.program.compiled_program import Program

    right = Program.run
    monkeypatch.setattr(Program, "run", lambda self, *given: fault(right(self, *given)))
    with Unseeded():
        report = operators.run(case("exp | forward | float32"), dynamic=False)
    assert report.problem is not None
    assert report.problem.startswith("value 0: ")


def test_a_program_that_keeps_its_first_results_is_reported(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from dl_dicp.program.compiled_program import Program

    kept: dict[Any, Any] = {}
    right = Program.run
    monkeypatch.setattr(
        Program, "run", lambda self, *given: kept.setdefault(self, right(self, *given))
    )
    with Unseeded():
        report = operators.run(case("exp | forward | float32"), dynamic=False)
    assert report.problem is not None
    assert report.problem.endswith("(with other values)")


def test_a_gradient_and_a_written_argument_are_compared() -> None:
    for name in ("exp | backward | float32", "exp | in-place | float32"):
        chosen = case(name)
        with Unseeded():
            sample = operators._samples(chosen)[0]
            found = operators._outcome(chosen, operators._function(chosen), sample, False)
        assert len(found) == (3 if chosen.kind == "backward" else 2)
        for at in range(len(found)):
            other = [x.detach() + (place == at) for place, x in enumerate(found)]
            assert difference(found, found) is None
            assert str(difference(other, found)).startswith(f"value {at}: off by")


def test_the_list_of_exceptions_is_strict() -> None:
    listed = parse("# a comment\nexp | forward | float32 | dynamic | it is an example\n")
    right, wrong = (Report("exp | forward | float32", problem) for problem in (None, "wrong"))
    assert unexpected(wrong, "dynamic", listed) is None
    assert "passes now" in str(unexpected(right, "dynamic", listed))
    assert unexpected(right, "static", listed) is None
    assert unexpected(wrong, "static", listed) == "exp | forward | float32 (static): wrong"
    for line in ("exp | forward | float32 | dynamic", "exp | sideways | float32 | * | x"):
        with pytest.raises(ExceptionsError):
            parse(line)
    with pytest.raises(ExceptionsError, match="twice"):
        parse("exp | forward | float32 | * | x\nexp | forward | float32 | static | x")
    assert {name for name, _ in load()} <= {each.name for each in cases()}


def test_selections() -> None:
    names = [each.name for each in cases()]
    parts = [[x for x in names if Selection(20, str(seed)).has(x)] for seed in (0, 1)]
    assert all(len(names) / 40 < len(part) < len(names) / 10 for part in parts)
    assert parts[0] != parts[1]
    assert Selection.of("20/1", "add") == Selection(20, "1", "add")
    for text in ("0", "x", "3/"):
        with pytest.raises(SelectionError):
            Selection.of(text, "")


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["dicp", "test", "ops", "-k", "softplus | forward"]) == 0
    assert "1 tests, 6 runs compared; in graphs alone 1" in capsys.readouterr().out
    assert main(["dicp", "test", "ops", "-k", "no such operator"]) == 2
    assert "choose no test" in capsys.readouterr().err
    assert main(["dicp", "test", "models", "--sample", "0"]) == 2
    assert "expected N or N/SEED" in capsys.readouterr().err


def test_zeros_without_memory_are_no_dense_tensors() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        return torch._efficientzerotensor(x.shape, dtype=x.dtype, device=x.device) + x

    run = torch.compile(function, backend="dl")
    x = torch.randn(4).to("dl")
    for _ in range(3):
        assert torch.equal(run(x).cpu(), x.cpu())


def test_half_precision_complex_numbers_are_checked() -> None:
    run = torch.compile(lambda x: (x.chalf(), x * 2), backend="dl")
    x = torch.randn(4).to("dl")
    for _ in range(3):
        assert run(x)[0].dtype == torch.complex32
    assert not statistics.eager

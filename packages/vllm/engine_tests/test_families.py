"""Models of each family generate the tokens of vLLM's own CPU backend."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from families import CONFIGURATIONS

from conftest import GREEDY, Results, Run, prompts

FAMILIES = list(CONFIGURATIONS)
# Log probabilities of the prompt's tokens, which do not depend on tokens generated before.
SCORED = {"temperature": 0, "max_tokens": 1, "prompt_logprobs": 0}


@pytest.fixture(scope="module")
def results(run: Run, model: Callable[[str], str]) -> dict[str, Results]:
    jobs = []
    for family in FAMILIES:
        for dtype in ("float32", "bfloat16"):
            for kind, sampling in (("greedy", GREEDY), ("scored", SCORED)):
                jobs.append(
                    {
                        "name": f"{family}-{dtype}-{kind}",
                        "model": model(family),
                        "options": {"dtype": dtype, "enable_prefix_caching": False},
                        "prompts": prompts(6),
                        "sampling": sampling,
                    }
                )
    wanted = [job for job in jobs if job["name"].endswith(("float32-greedy", "scored"))]
    return {device: run(device, wanted) for device in ("dl", "cpu")}


@pytest.mark.parametrize("family", FAMILIES)
def test_greedy_tokens_equal_those_of_the_cpu_backend(
    results: dict[str, Results], family: str
) -> None:
    found, expected = (results[device][f"{family}-float32-greedy"] for device in ("dl", "cpu"))
    assert "error" not in expected, expected
    assert "error" not in found, found
    assert (found["platform"], expected["platform"]) == ("DlPlatform", "CpuPlatform")
    assert found["rounds"] == expected["rounds"]


@pytest.mark.parametrize("family", FAMILIES)
def test_no_operator_runs_on_the_cpu(results: dict[str, Results], family: str) -> None:
    assert results["dl"][f"{family}-float32-greedy"]["fallbacks"] == []


def _scores(result: dict[str, object]) -> list[float]:
    outputs = result["outputs"]
    assert isinstance(outputs, list)
    return [value for output in outputs for entry in output["prompt"] for value in entry.values()]


def _error(found: list[float], expected: list[float]) -> float:
    """Return the root mean square of the differences."""
    assert len(found) == len(expected) > 0
    squares = [(a - b) ** 2 for a, b in zip(found, expected, strict=True)]
    return float((sum(squares) / len(squares)) ** 0.5)


@pytest.mark.parametrize("family", FAMILIES)
def test_bfloat16_is_as_close_to_float32_as_the_cpu_backend(
    results: dict[str, Results], family: str
) -> None:
    exact = _scores(results["cpu"][f"{family}-float32-scored"])
    error, allowed = (
        _error(_scores(results[device][f"{family}-bfloat16-scored"]), exact)
        for device in ("dl", "cpu")
    )
    assert error <= 1.5 * allowed

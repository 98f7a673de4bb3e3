"""Two processes that share a model over ``dicl`` generate the tokens of one process."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from conftest import GREEDY, Results, Run, prompts

FAMILIES = ("llama", "gpt2", "mixtral")
KINDS = {"tensor": {"tensor_parallel_size": 2}, "pipeline": {"pipeline_parallel_size": 2}}


@pytest.fixture(scope="module")
def results(run: Run, model: Callable[[str], str]) -> Results:
    jobs = [
        {
            "name": f"{family}-{kind}",
            "model": model(family),
            "options": {"dtype": "float32", "enable_prefix_caching": False, **options},
            "prompts": prompts(6),
            "sampling": GREEDY,
        }
        for family in FAMILIES
        for kind, options in {"alone": {}, **KINDS}.items()
    ]
    # The reference vendor shows two devices.
    return run("dl", jobs, DL_CPU_DEVICES="2")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("family", FAMILIES)
def test_tokens_equal_those_of_one_process(results: Results, family: str, kind: str) -> None:
    found, expected = results[f"{family}-{kind}"], results[f"{family}-alone"]
    assert "error" not in expected, expected
    assert "error" not in found, found
    assert found["rounds"] == expected["rounds"]

"""Features of vLLM's engine that need nothing but a correct cache and sampler."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from families import save_adapter

from conftest import GREEDY, Results, Run, prompts

RANDOM = {"temperature": 0.8, "top_k": 40, "top_p": 0.9, "seed": 5, "max_tokens": 16}
PENALIZED = {**GREEDY, "repetition_penalty": 1.5, "presence_penalty": 0.5, "min_tokens": 4}


def _jobs(path: str, adapter: str) -> list[dict[str, Any]]:
    uncached = {"dtype": "float32", "enable_prefix_caching": False}

    def job(name: str, sampling: dict[str, Any], **options: Any) -> dict[str, Any]:
        return {
            "name": name,
            "model": path,
            "options": {**uncached, **options},
            "prompts": prompts(8),
            "sampling": sampling,
        }

    shared = prompts(1, seed=1, shortest=64, longest=64)[0]
    return [
        job("plain", GREEDY),
        job("parts", GREEDY, max_num_batched_tokens=16),
        # Blocks for two or three of the eight sequences.
        job("preempted", GREEDY, num_gpu_blocks_override=14, max_model_len=128),
        {
            **job("cached", GREEDY, enable_prefix_caching=True),
            "prompts": [shared + tail for tail in prompts(4, seed=2)],
            "rounds": 2,
        },
        {**job("uncached", GREEDY), "prompts": [shared + tail for tail in prompts(4, seed=2)]},
        {**job("random", RANDOM), "rounds": 2},
        job("penalized", PENALIZED),
        job("logprobs", {**GREEDY, "logprobs": 3}),
        {**job("adapted", GREEDY, enable_lora=True), "adapter": adapter},
        {**job("mixed", GREEDY, enable_lora=True), "adapter": adapter, "adapted": [1, 2, 5]},
    ]


@pytest.fixture(scope="module")
def results(
    run: Run, model: Callable[[str], str], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Results]:
    adapter = save_adapter(tmp_path_factory.mktemp("adapters") / "random")
    jobs = _jobs(model("llama"), str(adapter))
    compared = [job for job in jobs if job["name"] in {"plain", "penalized", "adapted"}]
    found = {"dl": run("dl", jobs), "cpu": run("cpu", compared)}
    errors = {name: result["error"] for name, result in found["dl"].items() if "error" in result}
    assert errors == {}
    return found


def _tokens(results: dict[str, Results], name: str, device: str = "dl") -> Any:
    return results[device][name]["rounds"]


def test_prompts_in_parts_give_the_same_tokens(results: dict[str, Results]) -> None:
    assert _tokens(results, "parts") == _tokens(results, "plain")


def test_preempted_requests_give_the_same_tokens(results: dict[str, Results]) -> None:
    assert _tokens(results, "preempted") == _tokens(results, "plain")


def test_a_cached_prefix_gives_the_same_tokens(results: dict[str, Results]) -> None:
    assert all(count >= 64 for count in results["dl"]["cached"]["cached"])
    first, second = _tokens(results, "cached")
    assert first == second == _tokens(results, "uncached")[0]


def test_a_seed_determines_random_tokens(results: dict[str, Results]) -> None:
    first, second = _tokens(results, "random")
    assert first == second
    assert first != _tokens(results, "plain")[0]


def test_penalties_are_those_of_the_cpu_backend(results: dict[str, Results]) -> None:
    assert _tokens(results, "penalized") == _tokens(results, "penalized", "cpu")
    assert _tokens(results, "penalized") != _tokens(results, "plain")


def test_log_probabilities_do_not_change_the_tokens(results: dict[str, Results]) -> None:
    assert _tokens(results, "logprobs") == _tokens(results, "plain")


def test_an_adapter_gives_the_tokens_of_the_cpu_backend(results: dict[str, Results]) -> None:
    assert _tokens(results, "adapted") == _tokens(results, "adapted", "cpu")
    assert _tokens(results, "adapted") != _tokens(results, "plain")


def test_an_adapter_changes_the_tokens_of_its_requests_only(results: dict[str, Results]) -> None:
    (plain,), (adapted,) = _tokens(results, "plain"), _tokens(results, "adapted")
    expected = [(adapted if index in (1, 2, 5) else plain)[index] for index in range(8)]
    assert _tokens(results, "mixed") == [expected]


def test_features_run_no_operator_on_the_cpu(results: dict[str, Results]) -> None:
    found = {name: result["fallbacks"] for name, result in results["dl"].items()}
    assert not any(found.values()), found


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"kv_cache_memory_bytes": 1 << 60}, "decrease `kv_cache_memory_bytes`"),
        ({"quantization": "fp8"}, "quantization method 'fp8' is not supported on dl"),
        ({"kv_cache_dtype": "fp8"}, "KV cache has the dtype fp8"),
        ({"tensor_parallel_size": 2}, "worker 1 needs a device of its own, but 1 is visible"),
        ({"kv_cache_memory_bytes": 1 << 16}, "KV cache"),
    ],
)
def test_impossible_settings_are_errors_before_the_first_request(
    run: Run, model: Callable[[str], str], options: dict[str, Any], words: str
) -> None:
    job = {
        "name": "impossible",
        "model": model("llama"),
        "options": options,
        "prompts": prompts(1),
        "sampling": GREEDY,
    }
    error = run("dl", [job])["impossible"]["error"]
    assert re.search(re.escape(words), error), error

"""``python run_engine.py JOBS RESULTS``: run vLLM's engine for each job of a file.

A job is a dictionary with ``name``, ``model``, ``options`` of the engine, ``prompts`` (lists of
tokens) and ``sampling`` parameters. It may have a LoRA ``adapter``, the indices ``adapted`` of the
prompts with the adapter (default: all), and the number of ``rounds`` (default: 1). Its result has
the tokens of each prompt, their log probabilities if these were requested, and the operators that
ran on the CPU; or the error.
"""

from __future__ import annotations

import gc
import json
import os
import sys
from pathlib import Path
from typing import Any

OPTIONS = {
    "skip_tokenizer_init": True,
    "enforce_eager": True,
    "max_model_len": 256,
    "max_num_batched_tokens": 256,
    "max_num_seqs": 16,
    "kv_cache_memory_bytes": 1 << 26,
    "disable_log_stats": True,
}


def _sampling(values: dict[str, Any]) -> Any:
    from vllm import SamplingParams
    from vllm.sampling_params import StructuredOutputsParams

    values = dict(values)
    if regex := values.pop("regex", None):
        values["structured_outputs"] = StructuredOutputsParams(regex=regex)
    return SamplingParams(detokenize=False, **values)


def _text(output: Any) -> dict[str, Any]:
    completion = output.outputs[0]
    found: dict[str, Any] = {"tokens": list(completion.token_ids)}
    if output.prompt_logprobs is not None:
        found["prompt"] = [
            {token: value.logprob for token, value in entry.items()}
            for entry in output.prompt_logprobs[1:]
        ]
    return found


def _run(job: dict[str, Any]) -> dict[str, Any]:
    import torch
    from vllm import LLM
    from vllm.lora.request import LoRARequest

    on_dl = os.environ.get("VLLM_TARGET_DEVICE") != "cpu"
    model = LLM(job["model"], **{**OPTIONS, **job.get("options", {})})
    if on_dl:
        torch.dl.reset_fallback_stats()
    prompts = [{"prompt_token_ids": tokens} for tokens in job["prompts"]]
    adapter = LoRARequest("adapter", 1, job["adapter"]) if "adapter" in job else None
    adapted = job.get("adapted", range(len(prompts)))
    adapters = [adapter if index in adapted else None for index in range(len(prompts))]
    rounds = [
        model.generate(prompts, _sampling(job["sampling"]), use_tqdm=False, lora_request=adapters)
        for _ in range(job.get("rounds", 1))
    ]
    return {
        "outputs": [_text(output) for output in rounds[-1]],
        "rounds": [[list(o.outputs[0].token_ids) for o in outputs] for outputs in rounds],
        "cached": [output.num_cached_tokens for output in rounds[-1]],
        "fallbacks": sorted(torch.dl.fallback_stats()) if on_dl else [],
        "platform": type(sys.modules["vllm.platforms"].current_platform).__name__,
    }


def main(jobs: str, results: str) -> None:
    """Run all jobs in one process, one engine after the other."""
    os.environ["VLLM_ENABLE_V1_MULTIPROCESSING"] = "0"
    from vllm.distributed.parallel_state import cleanup_dist_env_and_memory

    found: dict[str, Any] = {}
    for job in json.loads(Path(jobs).read_text()):
        try:
            found[job["name"]] = _run(job)
        except Exception as error:  # noqa: BLE001  # the test decides what an error means
            found[job["name"]] = {"error": f"{type(error).__name__}: {error}"}
        gc.collect()
        cleanup_dist_env_and_memory()
        Path(results).write_text(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])

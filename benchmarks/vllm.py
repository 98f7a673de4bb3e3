"""Throughput of vLLM on dl, compared with vLLM's own CPU backend with the same threads.

Both engines run in processes of their own, which alternate: one generates while the other waits for
its turn. Each row is the median of the rounds, as tokens per second of wall-clock time and as
processor time per token. Models have random weights.

    tools/nox -s bench-vllm -- [--json FILE] [--rounds N] [--threads N]
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SIZES = {
    "4 layers of 256": {"hidden_size": 256, "intermediate_size": 512, "num_hidden_layers": 4},
    "8 layers of 512": {"hidden_size": 512, "intermediate_size": 1408, "num_hidden_layers": 8},
}
DTYPES = ("float32", "bfloat16")
REQUESTS = (1, 8)
PROMPT, TOKENS = 32, 64
"""Lengths of prompts and answers."""

SERVER = """
import json, os, random, sys, time
os.environ["VLLM_ENABLE_V1_MULTIPROCESSING"] = "0"
import torch
torch.set_num_threads(int(sys.argv[4]))
from vllm import LLM, SamplingParams
model = LLM(
    sys.argv[1], dtype=sys.argv[2], skip_tokenizer_init=True, enforce_eager=True,
    max_model_len=256, max_num_batched_tokens=512, max_num_seqs=16,
    kv_cache_memory_bytes=1 << 27, enable_prefix_caching=False, disable_log_stats=True,
)
draw = random.Random(0)
prompts = [
    {"prompt_token_ids": [draw.randrange(3, 2000) for _ in range(int(sys.argv[5]))]}
    for _ in range(64)
]
out = os.fdopen(int(sys.argv[3]), "w")
print("ready", file=out, flush=True)
for line in sys.stdin:
    count, tokens = map(int, line.split())
    sampling = SamplingParams(temperature=0, max_tokens=tokens, ignore_eos=True, detokenize=False)
    start, used = time.perf_counter(), time.process_time()
    outputs = model.generate(prompts[:count], sampling, use_tqdm=False)
    taken, used = time.perf_counter() - start, time.process_time() - used
    generated = sum(len(output.outputs[0].token_ids) for output in outputs)
    print(json.dumps([generated, taken, used]), file=out, flush=True)
"""


@dataclass
class Sample:
    """One call of an engine: generated tokens, wall-clock and processor seconds."""

    tokens: int
    wall: float
    processor: float


class Engine:
    """An engine in a process of its own, which works only when it is asked."""

    def __init__(self, device: str, model: Path, dtype: str, threads: int) -> None:
        variables = {**os.environ, "VLLM_LOGGING_LEVEL": "ERROR", "VLLM_NO_USAGE_STATS": "1"}
        variables.update(HF_HUB_OFFLINE="1", OMP_NUM_THREADS=str(threads))
        variables.pop("VLLM_TARGET_DEVICE", None)
        if device == "cpu":
            variables["VLLM_TARGET_DEVICE"] = "cpu"
        reading, writing = os.pipe()
        arguments = [str(model), dtype, str(writing), str(threads), str(PROMPT)]
        self.process = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-c", SERVER, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=variables,
            pass_fds=(writing,),
            text=True,
        )
        os.close(writing)
        self.answers = os.fdopen(reading)
        self._answer()

    def _answer(self) -> str:
        line = self.answers.readline()
        if not line:
            raise RuntimeError(f"the engine ended with status {self.process.wait()}")
        return line

    def generate(self, requests: int, tokens: int) -> Sample:
        """Generate ``tokens`` tokens for each of ``requests`` prompts."""
        assert self.process.stdin is not None
        print(requests, tokens, file=self.process.stdin, flush=True)
        return Sample(*json.loads(self._answer()))

    def close(self) -> None:
        """End the process."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()
        self.answers.close()


def save_model(size: str, folder: Path) -> Path:
    """Save a Llama with random weights."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    configuration = LlamaConfig(
        **SIZES[size],
        vocab_size=2048,
        num_attention_heads=8,
        num_key_value_heads=4,
        max_position_embeddings=512,
    )
    path = folder / size.replace(" ", "-")
    LlamaForCausalLM(configuration).save_pretrained(path)
    return path


def median(samples: list[Sample]) -> dict[str, float]:
    """Return tokens per second, and microseconds of processor time per token."""
    return {
        "tokens_per_second": statistics.median(each.tokens / each.wall for each in samples),
        "processor_us_per_token": statistics.median(
            1e6 * each.processor / each.tokens for each in samples
        ),
    }


def measure(model: Path, size: str, dtype: str, rounds: int, threads: int) -> list[dict[str, Any]]:
    """Return the rows of one model and dtype."""
    engines = {device: Engine(device, model, dtype, threads) for device in ("dl", "cpu")}
    rows = []
    for requests in REQUESTS:
        for engine in engines.values():
            engine.generate(requests, TOKENS)
        # An answer of one token is the time to the first token.
        kinds: dict[str, dict[str, list[Sample]]] = {"all": {}, "first": {}}
        for _ in range(rounds):
            for device, engine in engines.items():
                for kind, tokens in (("all", TOKENS), ("first", 1)):
                    sample = engine.generate(requests, tokens)
                    kinds[kind].setdefault(device, []).append(sample)
        row: dict[str, Any] = {"model": size, "dtype": dtype, "requests": requests}
        for device in engines:
            first = statistics.median(each.wall for each in kinds["first"][device])
            whole = statistics.median(each.wall for each in kinds["all"][device])
            row[device] = {
                **median(kinds["all"][device]),
                "first_token_ms": 1e3 * first,
                "between_tokens_ms": 1e3 * (whole - first) / (TOKENS - 1),
            }
        row["ratio"] = row["dl"]["tokens_per_second"] / row["cpu"]["tokens_per_second"]
        row["processor_ratio"] = (
            row["dl"]["processor_us_per_token"] / row["cpu"]["processor_us_per_token"]
        )
        rows.append(row)
        print(line(row), flush=True)
    for engine in engines.values():
        engine.close()
    return rows


COLUMNS = (
    "model",
    "dtype",
    "requests",
    "dl, tokens/s",
    "CPU backend, tokens/s",
    "ratio",
    "first token, dl / CPU backend",
    "between tokens, dl / CPU backend",
    "processor time per token, dl / CPU backend",
)


def header() -> str:
    """Return the first two lines of the table."""
    return f"| {' | '.join(COLUMNS)} |\n|{' --- |' * len(COLUMNS)}"


def line(row: dict[str, Any]) -> str:
    """Return a row of the table."""
    own, peer = row["dl"], row["cpu"]
    cells = [
        row["model"],
        row["dtype"],
        row["requests"],
        f"{own['tokens_per_second']:,.0f}",
        f"{peer['tokens_per_second']:,.0f}",
        f"{row['ratio']:.2f}",
        f"{own['first_token_ms']:.1f} / {peer['first_token_ms']:.1f} ms",
        f"{own['between_tokens_ms']:.2f} / {peer['between_tokens_ms']:.2f} ms",
        f"{row['processor_ratio']:.2f}",
    ]
    return "| " + " | ".join(map(str, cells)) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--json", type=Path, help="file for the results")
    parser.add_argument("--rounds", type=int, default=7, help="rounds per row (default: 7)")
    parser.add_argument("--threads", type=int, default=2, help="threads per engine (default: 2)")
    parser.add_argument("--sizes", nargs="*", default=list(SIZES), choices=list(SIZES))
    parser.add_argument("--dtypes", nargs="*", default=list(DTYPES), choices=DTYPES)
    options = parser.parse_args()
    print(header(), flush=True)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for size in options.sizes:
            model = save_model(size, Path(folder))
            for dtype in options.dtypes:
                rows += measure(model, size, dtype, options.rounds, options.threads)
    if options.json:
        result = {"rounds": options.rounds, "threads": options.threads, "rows": rows}
        options.json.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()

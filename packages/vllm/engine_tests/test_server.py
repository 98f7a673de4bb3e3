"""``vllm serve`` on dl answers many requests at once and survives invalid ones."""

from __future__ import annotations

import http.client
import json
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from families import save_tokenizer

from conftest import environment

REQUESTS = 200
READY = "Application startup complete"
NAME = "small"


class Server:
    """A server process; ``ask`` returns the status and the JSON of an answer."""

    def __init__(self, model: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        options = {
            "--served-model-name": NAME,
            "--host": "127.0.0.1",
            "--port": str(self.port),
            "--dtype": "float32",
            "--max-model-len": "256",
            "--max-num-seqs": "32",
            "--max-num-batched-tokens": "512",
            "--kv-cache-memory-bytes": str(1 << 26),
        }
        command = [sys.executable, "-m", "vllm.entrypoints.cli.main", "serve", str(model)]
        self.process = subprocess.Popen(
            [*command, *(word for option in options.items() for word in option)],
            env={**environment("dl"), "VLLM_LOGGING_LEVEL": "INFO"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert self.process.stdout is not None
        lines = []
        for line in self.process.stdout:
            lines.append(line)
            if READY in line:
                break
        else:
            pytest.fail(f"the server ended:\n{''.join(lines[-40:])}")
        # The server would wait if this process did not read its log.
        self.reader = ThreadPoolExecutor(1)
        self.log = self.reader.submit(self.process.stdout.read)

    def ask(self, path: str, body: bytes | dict[str, Any] | None = None) -> tuple[int, Any]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=300)
        if body is None:
            connection.request("GET", path)
        else:
            data = body if isinstance(body, bytes) else json.dumps(body).encode()
            connection.request("POST", path, data, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        return answer.status, json.loads(text) if text else None

    def complete(self, prompt: Any, **options: Any) -> tuple[int, Any]:
        values = {"model": NAME, "prompt": prompt, "max_tokens": 8, "temperature": 0, **options}
        return self.ask("/v1/completions", values)

    def close(self) -> str:
        self.process.terminate()
        self.process.wait(60)
        return str(self.log.result(60))


@pytest.fixture(scope="module")
def server(
    model: Callable[[str], str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("served") / "model"
    shutil.copytree(model("llama"), folder)
    save_tokenizer(folder)
    running = Server(folder)
    yield running
    running.close()


def test_many_concurrent_requests_are_answered(server: Server) -> None:
    prompts = [f"request {index % 20}" for index in range(REQUESTS)]
    alone = {prompt: server.complete(prompt)[1]["choices"][0]["text"] for prompt in set(prompts)}
    with ThreadPoolExecutor(REQUESTS) as pool:
        answers = list(pool.map(server.complete, prompts))
    assert [status for status, _ in answers] == [200] * REQUESTS
    texts = [answer["choices"][0]["text"] for _, answer in answers]
    assert texts == [alone[prompt] for prompt in prompts]
    assert all(answer["usage"]["completion_tokens"] <= 8 for _, answer in answers)


def test_structured_output_matches_its_expression(server: Server) -> None:
    expression = "[ab]{6}"
    status, answer = server.complete("x", structured_outputs={"regex": expression})
    assert status == 200, answer
    assert re.fullmatch(expression, answer["choices"][0]["text"])


@pytest.mark.parametrize(
    "options",
    [
        {"prompt": "x" * 5000},
        {"prompt": [10**9]},
        {"prompt": []},
        {"max_tokens": -1},
        {"temperature": -1},
        {"top_p": 2},
        {"top_k": -7},
        {"n": 0},
        {"logprobs": 10**6},
        {"logit_bias": {"99999999": 1}},
        {"model": "another"},
        {"structured_outputs": {"regex": "("}},
    ],
    ids=lambda options: next(iter(options)),
)
def test_an_invalid_request_is_refused_and_the_server_stays_up(
    server: Server, options: dict[str, Any]
) -> None:
    prompt = options.pop("prompt", "x")
    status, answer = server.complete(prompt, **options)
    assert 400 <= status < 500, answer
    assert answer["error"]["message"]
    assert server.complete("still there")[0] == 200


def test_a_body_that_is_not_json_is_refused(server: Server) -> None:
    status, _ = server.ask("/v1/completions", b"{")
    assert 400 <= status < 500
    assert server.ask("/health")[0] == 200

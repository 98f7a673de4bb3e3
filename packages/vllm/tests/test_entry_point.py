"""The plugin is found by vLLM and costs other programs nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import entry_points

import dl_vllm


def _run(code: str, **env: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-W", "error", "-c", code]
    variables = {**os.environ, **env}
    return subprocess.run(
        command, capture_output=True, text=True, env=variables, timeout=100, check=False
    )


def test_the_entry_point_names_the_function() -> None:
    (found,) = (
        point for point in entry_points(group="vllm.platform_plugins") if point.name == "dl"
    )
    assert found.load() is dl_vllm.register


def test_a_process_with_a_device_gets_the_platform() -> None:
    assert dl_vllm.register() == "dl_vllm.platform.DlPlatform"


def test_a_process_without_a_device_keeps_its_own_platform() -> None:
    done = _run("import dl_vllm; print(dl_vllm.register())", DL_VENDORS="none")
    assert done.stdout.splitlines()[-1:] == ["None"], done.stderr


def test_torch_imports_neither_vllm_nor_the_plugin() -> None:
    code = "import sys, torch; print([n for n in ('vllm', 'dl_vllm') if n in sys.modules])"
    done = _run(code)
    assert (done.stdout, done.stderr) == ("[]\n", "")

"""Starting the device in child processes, with the installed vendors."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.usefixtures("dl_device")

ORDERS = [
    "import torch",
    "import dl_core, torch",
    "import dl_core.torch_backend.module, torch",
    "import dl_core._entry, torch",
]


def run(code: str, **variables: str) -> str:
    kept = {k: v for k, v in os.environ.items() if not k.startswith("TORCH_DEVICE")}
    done = subprocess.run(
        [sys.executable, "-Werror::RuntimeWarning", "-c", code],
        env={**kept, **variables},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize("order", ORDERS)
def test_the_device_is_there_in_every_import_order(order: str) -> None:
    assert run(f"{order}; print(torch.ones(2, device='dl').sum().item())") == "2.0"


def test_init_starts_what_autoload_did_not() -> None:
    code = """
import torch
assert not hasattr(torch, "dl")
import dl_core
dl_core.init()
dl_core.init()
print(torch.ones(2, device="dl").sum().item())
"""
    assert run(code, TORCH_DEVICE_BACKEND_AUTOLOAD="0") == "2.0"


@pytest.mark.parametrize("backend", ["dicl", "cpu:gloo,dl:dicl"])
def test_naming_the_backend_of_a_group_starts_what_autoload_did_not(backend: str) -> None:
    from torch.distributed import Backend

    if not hasattr(Backend, "_ensure_backend_registered"):
        pytest.skip("this torch release has no entry points for backends; torch 2.14 has them")
    code = f"""
import torch
import torch.distributed as dist
assert not hasattr(torch, "dl")
dist.init_process_group({backend!r}, rank=0, world_size=1, store=dist.HashStore())
x = torch.full((2,), 3.0, device="dl")
dist.all_reduce(x)
dist.destroy_process_group()
print(x.tolist())
"""
    assert run(code, TORCH_DEVICE_BACKEND_AUTOLOAD="0") == "[3.0, 3.0]"


def test_init_after_autoload_does_nothing() -> None:
    assert run("import dl_core; dl_core.init(); import torch; print(torch.dl.device_count() > 0)")


def test_the_setting_of_the_fallback_reaches_torch() -> None:
    assert run("import torch; print(torch.dl.fallback_mode())", DL_FALLBACK="error") == "error"


def test_doctor_is_content_and_agrees_with_torch() -> None:
    report = json.loads(run("import sys; from dl_core.cli import main; main(['doctor', '--json'])"))
    assert report["healthy"], report["problems"]
    code = """
import torch
print(*map(torch.dl.get_device_name, range(torch.dl.device_count())), sep="|")
"""
    assert run(code).split("|") == [device["name"] for device in report["visible"]]


def test_a_forked_child_that_may_not_use_the_device_says_so() -> None:
    """For every vendor, either the child computes, or it raises our own error."""
    code = """
import os, torch
torch.ones(2, device="dl").sum().item()
read, write = os.pipe()
if os.fork() == 0:
    try:
        torch.dl.init()
        said = str(torch.ones(2, device="dl").sum().item())
    except RuntimeError as error:
        said = str(error)
    os.write(write, said.encode())
    os._exit(0)
os.wait()
print(os.read(read, 4096).decode())
"""
    said = run(code)
    assert said == "2.0" or "spawn" in said

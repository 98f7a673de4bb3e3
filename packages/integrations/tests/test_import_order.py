"""Frameworks learn of dl whether they are imported before or after torch."""

from __future__ import annotations

import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    ("imports", "check"),
    [
        ("torch, accelerate", "accelerate.Accelerator().device.type"),
        ("accelerate, torch", "accelerate.Accelerator().device.type"),
        # test_lightning.py imports them in the other order.
        ("torch, lightning", "lightning.Trainer(strategy='dl', logger=False).accelerator.name()"),
    ],
)
def test_frameworks_learn_of_dl_in_either_order(imports: str, check: str) -> None:
    code = f"import {imports}; print({check})"
    command = [sys.executable, "-W", "ignore", "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    assert done.stdout.splitlines()[-1:] == ["dl"], done.stderr

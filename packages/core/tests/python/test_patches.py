"""The patches of torch on the meta device, which has the same gaps as out-of-tree devices."""

from __future__ import annotations

import subprocess
import sys

import pytest

torch = pytest.importorskip("torch")

from dl_core.torch_backend import patches  # noqa: E402

STAND_IN = "meta"


def unpatched(owner: type, name: str) -> object:
    """Return torch's original function, even if a dl device has patched it."""
    function = getattr(owner, name)
    return function.__wrapped__ if hasattr(function, patches._MARK) else function


def test_dlpack_device_is_the_external_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patches, "DEVICE", STAND_IN)
    original = unpatched(torch.Tensor, "__dlpack_device__")
    with pytest.raises(ValueError, match="Unknown device type"):
        original(torch.empty(2, device=STAND_IN))
    monkeypatch.setattr(torch.Tensor, "__dlpack_device__", patches._dlpack_device(original))
    kind, _ = torch.empty(2, device=STAND_IN).__dlpack_device__()
    assert int(kind) == 12  # kDLExtDev of dlpack.h
    assert torch.empty(2).__dlpack_device__() == original(torch.empty(2))


def test_applying_twice_patches_once() -> None:
    code = """
from dl_core.torch_backend import patches
import torch
patches.apply()
once = torch.Tensor.__dlpack_device__
patches.apply()
assert once is torch.Tensor.__dlpack_device__
assert once.__wrapped__ is not None
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=300)

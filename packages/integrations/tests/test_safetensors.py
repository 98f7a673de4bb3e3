"""Files of safetensors are loaded to dl by its name."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from dl_integrations.safetensors import load_file


@pytest.mark.parametrize("device", ["dl", "dl:0", torch.device("dl"), 0, "cpu"])
def test_load_file(device: str | int | torch.device, tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    save_file({"weight": torch.arange(4.0)}, path)
    loaded = load_file(path, device=device)["weight"]
    assert loaded.device.type == ("cpu" if device == "cpu" else "dl")
    assert loaded.tolist() == [0, 1, 2, 3]

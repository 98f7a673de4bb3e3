"""What `dl coverage` says of real devices."""

from __future__ import annotations

import torch

from dl_core.coverage import measure


def test_what_torch_takes_apart_is_composed_and_what_falls_back_is_not() -> None:
    device = measure()[0].overloads
    assert "_foreach_add.List" in device["A"]["composed"]
    assert "linalg_eig" in device["B"]["fallback"]
    torch.dl.reset_fallback_stats()
    torch._foreach_add([torch.ones(2, device="dl")], [torch.ones(2, device="dl")])
    assert not any(name.startswith("_foreach") for name in torch.dl.fallback_stats())
    torch.linalg.eig(torch.eye(2, device="dl"))
    assert any(name.startswith("linalg_eig") for name in torch.dl.fallback_stats())

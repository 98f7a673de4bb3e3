"""Reports of `dl coverage` on real devices."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from dl_core.coverage import measure
from tools.generated_part import part_of


def test_what_computes_nothing_is_no_fallback() -> None:
    """Views, memory management and scalar reads: dl-core implements these itself."""
    found = measure()[0].overloads["A"]
    own = {"view", "as_strided", "_reshape_alias", "unfold", "view_as_real", "view_as_complex"}
    own |= {"empty.memory_format", "empty_strided", "resize_", "set_", "_local_scalar_dense"}
    assert own <= set(found["composed"])
    x = torch.ones(4, 4).to("dl")
    torch.dl.reset_fallback_stats()
    torch.empty(4, 4, device="dl")
    assert x.view(16).unfold(0, 2, 2).as_strided((2,), (1,)).resize_(2)[1].item() == 1
    assert torch.view_as_complex(x.view(8, 2)).view(-1).shape == (8,)
    assert not torch.dl.fallback_stats()
    # Operators that torch marks as views of their argument.
    views = [
        name
        for name in found["fallback"]
        for schema in [
            torch._C._get_schema(f"aten::{name.partition('.')[0]}", name.partition(".")[2])
        ]
        if any(x.alias_info is not None and not x.alias_info.is_write for x in schema.arguments)
    ]
    assert views == []


def test_what_torch_takes_apart_is_composed_and_what_falls_back_is_not() -> None:
    device = measure()[0].overloads
    assert "_foreach_add.List" in device["A"]["composed"]
    assert "linalg_eig" in device["B"]["fallback"]
    torch.dl.reset_fallback_stats()
    torch._foreach_add([torch.ones(2, device="dl")], [torch.ones(2, device="dl")])
    assert not any(name.startswith("_foreach") for name in torch.dl.fallback_stats())
    torch.linalg.eig(torch.eye(2, device="dl"))
    assert any(name.startswith("linalg_eig") for name in torch.dl.fallback_stats())


def test_the_page_of_results_says_what_is_measured() -> None:
    """The tiers in the table that `nox -s figures` writes, for the vendors that have a column
    there."""
    page = Path(__file__).parents[2] / "docs" / "reference" / "vendor-results.md"
    text = page.read_text(encoding="utf-8")
    rows = [
        [x.strip() for x in row.split("|")[1:-1]] for row in part_of(text, "figures").splitlines()
    ]
    vendors = next((row for row in rows if row and row[0] == ""), [])
    device = measure()[0]
    if device.vendor not in vendors:
        pytest.skip(f"{page.name} has no figures of {device.vendor}")
    for tier in ("A", "B"):
        (row,) = (row for row in rows if row and row[0].endswith(f"(tier {tier})"))
        share = device.percent(tier, "native") + device.percent(tier, "composed")
        assert row[vendors.index(device.vendor)].startswith(f"{share:.1f} %")

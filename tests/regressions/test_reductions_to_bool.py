"""Elements are converted to bool before they are added or multiplied, as in torch."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

REDUCTIONS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "sum": lambda x: x.sum(dtype=torch.bool),
    "sum along": lambda x: x.sum(-1, dtype=torch.bool),
    "sum out": lambda x: torch.sum(x, 0, out=torch.empty(0, dtype=torch.bool, device=x.device)),
    "prod": lambda x: x.prod(dtype=torch.bool),
    "prod along": lambda x: x.prod(-1, dtype=torch.bool),
    "nansum": lambda x: x.nansum(dtype=torch.bool),
}
NUMBERS = [[1, -1], [0.3, 0.2], [0.3, 1.2], [0, 0], [2, -2], [0.5, 0]]
DTYPES = (torch.float32, torch.float16, torch.float64, torch.int64, torch.int32, torch.uint8)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("numbers", NUMBERS, ids=str)
@pytest.mark.parametrize("reduce", REDUCTIONS.values(), ids=REDUCTIONS)
def test_a_reduction_to_bool_is_the_cpus(
    reduce: Callable[[torch.Tensor], torch.Tensor], numbers: list[float], dtype: torch.dtype
) -> None:
    x = torch.tensor([numbers]).to(dtype)
    got, want = reduce(x.to("dl")), reduce(x)
    assert got.dtype == torch.bool
    assert got.cpu().tolist() == want.tolist()


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_any_and_all_stay_the_vendors(dtype: torch.dtype) -> None:
    x = torch.tensor([[1, -1], [0, 2]]).to(dtype)
    assert x.to("dl").any(1).tolist() == x.any(1).tolist()
    assert x.to("dl").all(1).tolist() == x.all(1).tolist()


@pytest.mark.parametrize("name", ["cumsum", "cumprod"])
def test_running_ones_are_refused_as_on_the_cpu(name: str) -> None:
    for device in ("cpu", "dl"):
        with pytest.raises(NotImplementedError):
            getattr(torch.tensor([1.0, -1.0], device=device), name)(0, dtype=torch.bool)

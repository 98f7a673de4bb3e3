"""torch.use_deterministic_algorithms(True): of several values written to one position, the last
wins.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
import torch


@pytest.fixture(autouse=True)
def _setting() -> Iterator[None]:
    # Warn only: put_ alerts on every device.
    torch.use_deterministic_algorithms(True, warn_only=True)
    yield
    torch.use_deterministic_algorithms(False)


REPEATED: dict[str, Callable[[torch.Tensor, torch.Tensor, torch.Tensor], object]] = {
    "put_": lambda x, places, values: x.put_(places, values),
    "index_put_": lambda x, places, values: x.index_put_((places,), values),
    "setitem": lambda x, places, values: x.__setitem__(places, values),
    "index_copy_": lambda x, places, values: x.index_copy_(0, places, values),
    "scatter_": lambda x, places, values: x.scatter_(0, places, values),
}
"""Writes of values to repeated positions."""


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", REPEATED)
def test_where_places_repeat_the_last_value_is_left(name: str) -> None:
    """Thousands are written to each position; without the setting, any may win on a parallel
    device."""
    places, values = torch.arange(30_000) * 7919 % 6, torch.arange(30_000.0)
    x = torch.zeros(6, device="dl")
    REPEATED[name](x, places.to("dl"), values.to("dl"))
    last = [values[places == place][-1].item() for place in range(6)]
    assert x.tolist() == last

"""Engines with more workers than devices are refused."""

from __future__ import annotations

import pytest

from dl_vllm.devices import demand_device


def test_every_worker_has_a_device() -> None:
    demand_device(1, 2)
    with pytest.raises(ValueError, match=r"worker 2 needs a device .* 2 are visible; decrease"):
        demand_device(2, 2)

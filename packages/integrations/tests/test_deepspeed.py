"""DeepSpeed's own operators are refused with a replacement; first steps train with it."""

from __future__ import annotations

import pytest

from dl_integrations.deepspeed import RefusedBuilder


def test_an_operator_in_cuda_is_refused_with_a_replacement() -> None:
    builder = type("FusedAdamBuilder", (RefusedBuilder,), {"name": "FusedAdamBuilder"})()
    assert not builder.is_compatible()
    with pytest.raises(RuntimeError, match=r"operator FusedAdam is an extension .* \"torch_adam\""):
        builder.load()

"""Correct runs raise no alarm, for any model, dtype and level, nor for errors of one ulp."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from autocompare_models import MODELS, trained
from diopi_proto.tolerance import OpClass
from diopi_proto.tolerance.torch_operators.op_classes import draws, is_uninitialised, rule_for
from diopi_proto.tolerance.torch_operators.schema import signature
from dl_optools.compare.autocompare import OpAutoCompare
from dl_optools.tensors import tensors_of

DTYPES = [torch.float32, torch.float16, torch.bfloat16]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("level", ["dispatch", "api"])
def test_a_right_device_raises_no_alarm(
    model: str, dtype: torch.dtype, level: str, device: str
) -> None:
    run = trained(model, device, dtype)
    with OpAutoCompare(
        device=device, level=level, every=1, stream=None, csv=False, bundles=0
    ) as tool:
        run()
    results = tool.results
    assert results.failures == [], results.text()
    assert results.checked > 20 and not results.dropped
    if level == "dispatch":
        assert not results.not_comparable, results.text()


class OneUlpOff(TorchDispatchMode):
    """A device whose every computed value is off by one ulp."""

    def __init__(self) -> None:
        super().__init__()
        self.generator = torch.Generator().manual_seed(0)

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        result = func(*args, **kwargs)
        facts = signature(func)
        if facts.view or is_uninitialised(func) or draws(func, args, kwargs):
            return result
        for at, tensor in enumerate(tensors_of(result)):
            rule = rule_for(func, args, kwargs, tensor, at)
            if rule.op_class is not OpClass.EXACT and rule.judged:
                self.shift(tensor)
        return result

    def shift(self, x: torch.Tensor) -> None:
        if x.dtype not in DTYPES or x.numel() == 0:
            return
        whole = {4: torch.int32, 2: torch.int16}[x.itemsize]
        signs = torch.randint(0, 2, x.shape, generator=self.generator) * 2 - 1
        usual = x.isfinite() & (x.abs() > torch.finfo(x.dtype).tiny)
        moved = (x.contiguous().view(whole) + signs.to(whole)).view(x.dtype)
        x.copy_(torch.where(usual & moved.isfinite(), moved, x))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("model", MODELS)
def test_one_ulp_raises_no_alarm(model: str, dtype: torch.dtype) -> None:
    run = trained(model, "cpu", dtype, steps=1)
    with (
        OneUlpOff(),
        OpAutoCompare(device="cpu", every=1, stream=None, csv=False, bundles=0) as tool,
    ):
        run()
    assert tool.results.failures == [] and tool.results.checked > 20, tool.results.text()

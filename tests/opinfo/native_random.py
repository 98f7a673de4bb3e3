"""Cases of random operators, for the tables in native.py."""

from __future__ import annotations

import torch

from .direct_cases import FLOATING, DirectCase

# Random operators of operators.INDEPENDENT, which draw each element independently.
CASES = {
    "bernoulli_.Tensor": DirectCase("bernoulli", lambda x: torch.empty_like(x).bernoulli_(x / 8)),
    "normal.Tensor_Tensor": DirectCase("normal", torch.normal, FLOATING, operands=2),
    "normal.Tensor_float": DirectCase("normal", torch.normal, FLOATING, numbers=((2.0,), (0.0,))),
    "normal.float_Tensor": DirectCase("normal", lambda x: torch.normal(1.5, x), FLOATING),
    "random_": DirectCase("randint", lambda x: x.clone().random_()),
    "random_.from": DirectCase(
        "randint", lambda x, low, high: x.clone().random_(low, high), numbers=((-3, 90), (2, None))
    ),
    "random_.to": DirectCase("randint", lambda x, high: x.clone().random_(high), numbers=((90,),)),
    "randperm.generator_out": DirectCase(
        "randperm", lambda x: torch.randperm(x.numel(), dtype=x.dtype, device=x.device)
    ),
}

"""Tests of dl-dicp's HIP kernels: compiled by the fake hipRTC and compared with the executor.

Devices have waves of 64 threads, and of 32 if all families are tested.
"""

from __future__ import annotations

import importlib.util

import pytest
from extension_tests.simulated_vendor import SimulatedVendor

from conftest import long

for module in ("dl_dicp", "dl_kernels"):
    if importlib.util.find_spec(module) is None:
        pytest.skip(f"{module} is not installed", allow_module_level=True)

START = r"""
import dataclasses
import torch
from dl_dicp import statistics
from dl_dicp.engines.codegen import graph_engine, hip, opening, racing

# Features of hipRTC's compiler that g++ lacks.
WORDS = '''
#include <cmath>
#include <immintrin.h>
struct Float16 {
  unsigned short bits;
  __attribute__((target("f16c"))) explicit Float16(float x) : bits(_cvtss_sh(x, 0)) {}
  __attribute__((target("f16c"))) explicit operator float() const { return _cvtsh_ss(bits); }
};
inline float normcdff(float x) { return 0.5f * erfcf(-x * 0.70710678f); }
'''
prelude = WORDS + hip.PRELUDE.replace("_Float16", "Float16")
graph_engine.FEWEST_ELEMENTS = 0
racing.RacingProgram._raced = racing.RacingProgram._trusted

def kernels_of(function, *given):
    opening.HIP = dataclasses.replace(hip.HIP, prelude=prelude)
    options = {"engine": "codegen", "patterns": False}
    compiled = torch.compile(function, backend="dl", options=options)
    before = statistics.engine_runs["codegen"]
    for _ in range(4):
        made, wanted = compiled(*given), function(*given)
        racing.wait_for_kernels()
        torch.testing.assert_close(made.cpu(), wanted.cpu(), rtol=1e-6, atol=1e-6)
    return statistics.engine_runs["codegen"] - before
"""

FUNCTIONS = """
def chain(x, y):
    return (torch.relu(x) * y + x).clamp(-1, 1) - y.abs()

def rows(x, y):
    return torch.softmax(x * 0.5 + y, -1)

def normed(x, y):
    x = x + y
    return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-5)

cases = ((torch.float32, (3, 5, 70)), (torch.float16, (2, 600)), (torch.bfloat16, (9, 33)))
for dtype, shape in cases:
    x, y = (torch.randn(shape).to("dl", dtype) for _ in range(2))
    for function in (chain, rows, normed):
        torch._dynamo.reset()
        assert kernels_of(function, x, y) >= 2, (function, dtype, shape, statistics.dropped)
assert not statistics.dropped, statistics.dropped
print("agreed")
"""

WRONG = """
prelude = prelude.replace("step > 0", "step > 1")  # omits the last step of a reduction
import warnings
warnings.simplefilter("ignore")
assert kernels_of(lambda x: torch.softmax(x * 2, -1), torch.randn(4, 90).to("dl")) == 0
print(*statistics.dropped)
"""


@pytest.mark.parametrize("processor", ["gfx90a", pytest.param("gfx1030", marks=long)])
def test_kernels_agree_with_the_executor(compiling: SimulatedVendor, processor: str) -> None:
    output = compiling.with_variables(FAKE_HIP_DEVICES=processor).run(START + FUNCTIONS)
    assert output == "agreed\n"


def test_a_wrong_kernel_is_dropped(compiling: SimulatedVendor) -> None:
    assert "differ" in compiling.run(START + WRONG)

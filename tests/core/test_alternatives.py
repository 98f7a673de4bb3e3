"""A library that has DIOPI's operator and not the one that core prefers: DIOPI's is used."""

from __future__ import annotations

from pathlib import Path

import pytest

from diopi_proto.build import compile_library

from .processes import RUNS_ONCE, output
from .stub_vendor import StubVendor

pytestmark = RUNS_ONCE

SOURCE = Path(__file__).with_name("diopi_only.cpp")
FLAGS = ["-O1", "-DDIOPIRT_EXTERN", "-DDIOPI_EXPORT_SYMBOLS"]
NATIVE = """
import torch
import torch.nn.functional as F

def native(run):
    torch.dl.reset_native_stats()
    with torch.dl.fallback("error"), torch.dl.profile_operators():
        result = run()
    return result, {name for name, stats in torch.dl.native_stats().items() if stats["count"]}
"""


@pytest.fixture(scope="module")
def diopi_only(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    vendor = StubVendor(tmp_path_factory.mktemp("diopi_only"), legacy=True)
    compile_library(vendor.library, [SOURCE], exports=("diopi*",), legacy=True, compile_flags=FLAGS)
    return vendor.variables()


def test_matmul_serves_mm(diopi_only: dict[str, str]) -> None:
    code = f"""{NATIVE}
a, b = torch.randn(3, 4), torch.randn(4, 5)
product, ran = native(lambda: torch.mm(a.to("dl"), b.to("dl")))
torch.testing.assert_close(product.cpu(), a @ b)
assert ran == {{"mm"}}, ran
# Declined by the library: what it leaves to others goes on as before.
batches = torch.randn(2, 3, 4)
torch.testing.assert_close(torch.bmm(batches.to("dl"), batches.mT.to("dl")).cpu(),
                           torch.bmm(batches, batches.mT))
assert "bmm" in torch.dl.fallback_stats(), torch.dl.fallback_stats()
print("done")
"""
    assert "done" in output(code, **diopi_only)


@pytest.mark.parametrize(("heads", "causal"), [(4, False), (4, True), (2, True)])
def test_flash_attention_serves_attention(
    diopi_only: dict[str, str], heads: int, causal: bool
) -> None:
    code = f"""{NATIVE}
def attention(q, k, v):
    return F.scaled_dot_product_attention(q, k, v, is_causal={causal}, enable_gqa={heads != 4})

shapes = (2, 4, 5, 8), (2, {heads}, 5, 8), (2, {heads}, 5, 8)
operands = [torch.randn(shape, requires_grad=True) for shape in shapes]
on_dl = [x.detach().to("dl").requires_grad_() for x in operands]
expected, weight = attention(*operands), torch.randn(2, 4, 5, 8)
got, ran = native(lambda: attention(*on_dl))
assert ran == {{"_scaled_dot_product_flash_attention_for_cpu"}}, ran
torch.testing.assert_close(got.cpu(), expected)
expected.backward(weight)
_, ran = native(lambda: got.backward(weight.to("dl")))
assert ran == {{"_scaled_dot_product_flash_attention_for_cpu_backward"}}, ran
for mine, theirs in zip(on_dl, operands):
    torch.testing.assert_close(mine.grad.cpu(), theirs.grad)
print("done")
"""
    assert "done" in output(code, **diopi_only)


@pytest.mark.parametrize(
    "call",
    [
        "F.scaled_dot_product_attention(q, k, v, attn_mask=torch.ones(5, 7, device=q.device) > 0)",
        "F.scaled_dot_product_attention(q, k, v, is_causal=True)",
        "F.scaled_dot_product_attention(q.double(), k.double(), v.double())",
        "F.scaled_dot_product_attention(q, k, v[..., :4])",
    ],
)
def test_flash_attention_gets_no_call_that_it_would_get_wrong(
    diopi_only: dict[str, str], call: str
) -> None:
    """Masks, causal masks with another alignment, float64 statistics, values of another size."""
    code = f"""{NATIVE}
q, k, v = torch.randn(2, 4, 5, 8), torch.randn(2, 4, 7, 8), torch.randn(2, 4, 7, 8)
expected = {call}
q, k, v = q.to("dl"), k.to("dl"), v.to("dl")
torch.dl.reset_native_stats()
with torch.dl.profile_operators():
    got = {call}
assert not any("attention" in name for name, s in torch.dl.native_stats().items() if s["count"])
torch.testing.assert_close(got.cpu(), expected)
print("done")
"""
    assert "done" in output(code, **diopi_only)

"""Tests of nvcc's kernels on a driver simulator, if dl-gpu-sim is installed.

They cover the path from a call to a kernel and back, and a sample of the conformance suite.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from driver_tests.models import *  # noqa: F403 - pytest collects them here
from driver_tests.models import run_conformance_sample
from extension_tests.simulated_vendor import SimulatedVendor


@pytest.fixture
def strict(simulated_vendor: SimulatedVendor) -> SimulatedVendor:
    """Return the vendor on a simulator that also fails for races."""
    return simulated_vendor.with_variables(DL_GPU_SIM_STRICT="1")


def test_products_on_tensor_cores_are_right(strict: SimulatedVendor) -> None:
    """Sizes with partial tiles, both layouts of either operand, and unaligned rows."""
    code = """
    random = np.random.default_rng(0)
    def matrix(rows, columns, layout):
        x = random.standard_normal((rows, columns + 3)).astype("float16")
        if layout == "turned":
            return np.ascontiguousarray(x[:, :columns].T).T
        return x[:, 1 : columns + 1] if layout == "apart" else x[:, :columns].copy()
    for m, n, k in (1, 7, 17), (65, 33, 64), (130, 129, 40), (17, 8, 1100), (7, 1, 0):
        for left in "dense", "turned", "apart":
            for right in "dense", "turned":
                a, b = matrix(m, k, left), matrix(k, n, right)
                out = vendor.empty((m, n), "float16")
                vendor.op.Mm(out, vendor.tensor(a), vendor.tensor(b))
                wanted = a.astype("float64") @ b.astype("float64")
                largest = np.abs(wanted).max()
                np.testing.assert_allclose(out.numpy(), wanted, rtol=1e-3, atol=1e-5 * largest)
    print("right")
    """
    assert strict.run_on_vendor(code).endswith("right\n")


ATTENTION = """
random = np.random.default_rng(0)
def reference(q, k, v, g, causal):
    # Reference of one head in float64: the result, and the gradients of q, k and v.
    scores = q @ k.T * 0.2
    if causal:
        shift = max(0, len(k) - len(q))
        scores[np.arange(len(k))[None, :] > np.arange(len(q))[:, None] + shift] = -np.inf
    weights = np.exp(scores - scores.max(1, keepdims=True))
    weights /= weights.sum(1, keepdims=True)
    out, change = weights @ v, g @ v.T
    change = weights * (change - (change * weights).sum(1, keepdims=True)) * 0.2
    return out, change @ k, change.T @ q, weights.T @ g
def check(name, found, wanted, most):
    apart = np.abs(found - wanted).max() / np.abs(wanted).max()
    assert apart < most, (dtype, queries, keys, width, causal, name, apart)
for dtype, queries, keys, width, causal in CASES:
    most = 2e-6 if dtype == "float32" else 1e-3
    q, g = (random.standard_normal((1, queries, 2, width)).astype(dtype) for _ in range(2))
    k, v = (random.standard_normal((1, keys, 1, width)).astype(dtype) for _ in range(2))
    wide = [x.astype("float64") for x in (q, k, v, g)]
    heads = [
        reference(wide[0][0, :, h], wide[1][0, :, 0], wide[2][0, :, 0], wide[3][0, :, h], causal)
        for h in range(2)
    ]
    given = [vendor.tensor(x) for x in (q, k, v)]
    out, lse = vendor.empty(q.shape, dtype), vendor.empty((1, 2, queries))
    vendor.op.FlashAttention(out, lse, None, *given, None, 0.0, 0.2, causal, -1, -1)
    grads = [vendor.empty(x.shape, dtype) for x in (q, k, v)]
    vendor.op.FlashAttentionBackward(
        *grads, vendor.tensor(g), None, *given, None, out, lse, 0.0, 0.2, causal, -1, -1
    )
    for h in range(2):
        check("out", out.numpy()[0, :, h], heads[h][0], most)
        check("query", grads[0].numpy()[0, :, h], heads[h][1], most)
    check("key", grads[1].numpy()[0, :, 0], heads[0][2] + heads[1][2], most)
    check("value", grads[2].numpy()[0, :, 0], heads[0][3] + heads[1][3], most)
print("right")
"""


def test_attention_on_tensor_cores_is_right(strict: SimulatedVendor) -> None:
    """Sizes with more than one tile of queries and of keys, and with partial tiles."""
    cases = [
        ("float32", 130, 70, 64, False),
        ("float32", 35, 70, 72, True),
        ("float16", 130, 70, 64, True),
        ("float16", 35, 100, 100, False),
    ]
    code = ATTENTION.replace("CASES", repr(cases))
    assert strict.run_on_vendor(code).endswith("right\n")


def test_rows_of_many_widths_are_right_and_without_races(strict: SimulatedVendor) -> None:
    """A row's width determines how many threads share it and whether it stays in registers."""
    code = """
    random = np.random.default_rng(0)
    for width in (1, 31, 257, 1024, 4100, 20000):
        x = random.standard_normal((3, width)).astype("float32")
        given, turned = vendor.tensor(x), vendor.tensor(np.ascontiguousarray(x.T))
        exact = x.astype("float64")
        power = np.exp(exact - exact.max(1, keepdims=True))
        soft = power / power.sum(1, keepdims=True)
        out, across = vendor.empty((3, width)), vendor.empty((width, 3))
        near = {"rtol": 2e-5, "atol": 2e-5}
        vendor.op.Softmax(out, given, 1)
        np.testing.assert_allclose(out.numpy(), soft, **near)
        vendor.op.Softmax(across, turned, 0)
        np.testing.assert_allclose(across.numpy(), soft.T, **near)
        vendor.op.Cumsum(out, given, 1)
        np.testing.assert_allclose(out.numpy(), exact.cumsum(1), rtol=2e-5, atol=1e-3)
        vendor.op.Cumsum(across, turned, 0)
        np.testing.assert_allclose(across.numpy(), exact.cumsum(1).T, rtol=2e-5, atol=1e-3)
        mean, invstd, total = (vendor.empty((3,)) for _ in range(3))
        vendor.op.LayerNorm(out, mean, invstd, given, None, None, (width,), 1e-2)
        apart = exact - exact.mean(1, keepdims=True)
        scale = 1 / np.sqrt((apart**2).mean(1, keepdims=True) + 1e-2)
        np.testing.assert_allclose(out.numpy(), apart * scale, **near)
        for sums, dim in ((given, 1), (turned, 0)):
            vendor.op.Sum(total, sums, (dim,))
            np.testing.assert_allclose(total.numpy(), exact.sum(1), rtol=2e-5, atol=1e-3)
    print("right")
    """
    assert strict.run_on_vendor(code).endswith("right\n")


def test_operands_may_have_any_offset_and_layout(simulated_vendor: SimulatedVendor) -> None:
    code = """
    import torch
    torch.manual_seed(0)
    for dtype in (torch.float32, torch.bfloat16, torch.int64, torch.uint8):
        base = torch.randint(0, 50, (309,)).to(dtype)
        there = base.to("dl")
        for a, b in ((0, 0), (0, 1), (1, 1), (4, 0)):
            wanted = base[a : a + 301] + base[b : b + 301]
            assert torch.equal((there[a : a + 301] + there[b : b + 301]).cpu(), wanted)
        base[1:302].mul_(2)
        there[1:302].mul_(2)
        assert torch.equal(there.cpu(), base)
    for shape in ((40, 64), (3, 17, 9)):
        x = torch.randn(shape)
        for view in (
            lambda v: v.transpose(0, -1),
            lambda v: v[..., ::2],
            lambda v: v[1:, 1:],
            lambda v: v[:, :1].expand(v.shape),
        ):
            seen, there = view(x), view(x.to("dl"))
            assert torch.equal(there.contiguous().cpu(), seen.contiguous())
            assert torch.equal((there + there).cpu(), seen + seen)
            assert torch.equal(there.to(torch.float16).cpu(), seen.to(torch.float16))
    assert (torch.empty(0, 3, device="dl") + 1).shape == (0, 3)
    print("right")
    """
    assert simulated_vendor.run(code).endswith("right\n")


def test_a_sample_of_the_conformance_cases_passes(
    simulated_vendor: SimulatedVendor, tmp_path: Path
) -> None:
    report = run_conformance_sample(simulated_vendor, 400, tmp_path)
    assert report["counts"]["passed"] > 40

"""Tests of nvcc's kernels on a driver simulator, if dl-gpu-sim is installed.

They cover the path from a call to a kernel and back, and a sample of the conformance suite.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from dl_conformance.commit_seed import commit_seed
from processes import run, run_on_vendor

SEED = commit_seed(Path(__file__).parent)


def test_results_are_right(simulator: str) -> None:
    code = """
    x = np.random.default_rng(0).standard_normal((5, 33)).astype("float32")
    given, out, total = vendor.tensor(x), vendor.empty((5, 33)), vendor.empty((5,))
    vendor.op.Softmax(out, given, 1)
    wanted = np.exp(x - x.max(1, keepdims=True))
    np.testing.assert_allclose(out.numpy(), wanted / wanted.sum(1, keepdims=True), rtol=1e-5)
    vendor.op.Sum(total, out, (1,))
    np.testing.assert_allclose(total.numpy(), np.ones(5), rtol=1e-6)
    vendor.op.Add(out, given, vendor.tensor(np.ascontiguousarray(x.T).T), 2.0)
    np.testing.assert_allclose(out.numpy(), 3 * x, rtol=1e-6)
    print("right")
    """
    assert run_on_vendor(code, DL_CUDA_DRIVER=simulator).endswith("right\n")


def test_products_on_tensor_cores_are_right(simulator: str) -> None:
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
    output = run_on_vendor(code, DL_CUDA_DRIVER=simulator, DL_GPU_SIM_STRICT="1")
    assert output.endswith("right\n")


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


def test_attention_on_tensor_cores_is_right(simulator: str) -> None:
    """More than one tile of queries and of keys, and partial tiles."""
    cases = [
        ("float32", 130, 70, 64, False),
        ("float32", 35, 70, 72, True),
        ("float16", 130, 70, 64, True),
        ("float16", 35, 100, 100, False),
    ]
    code = ATTENTION.replace("CASES", repr(cases))
    output = run_on_vendor(code, DL_CUDA_DRIVER=simulator, DL_GPU_SIM_STRICT="1")
    assert output.endswith("right\n")


def test_rows_of_many_widths_are_right_and_without_races(simulator: str) -> None:
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
    output = run_on_vendor(code, DL_CUDA_DRIVER=simulator, DL_GPU_SIM_STRICT="1")
    assert output.endswith("right\n")


def test_operands_may_have_any_offset_and_layout(simulator: str) -> None:
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
    assert run(code, DL_CUDA_DRIVER=simulator, DL_VENDORS="cuda").endswith("right\n")


def test_an_invalid_index_is_raised_when_the_host_waits(simulator: str) -> None:
    code = """
    import torch
    numbers = torch.arange(3.0, device="dl")
    taken = numbers[torch.tensor([0, 7], device="dl")]
    try:
        torch.dl.synchronize()
    except IndexError as error:
        print(error)
    print(numbers.sum().item())
    """
    output = run(code, DL_CUDA_DRIVER=simulator, DL_VENDORS="cuda")
    assert "index 7 is out of bounds for dimension 0 with size 3" in output
    assert output.endswith("3.0\n")


def test_a_model_learns_as_on_the_cpu(simulator: str) -> None:
    code = """
    import torch
    def trained(device):
        torch.manual_seed(0)
        layers = torch.nn.Linear(4, 8), torch.nn.GELU(), torch.nn.Linear(8, 2)
        model = torch.nn.Sequential(*layers)
        x, classes = torch.randn(5, 4), torch.tensor([0, 1, 1, 0, 1])
        model.to(device)
        optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)
        for _ in range(2):
            logits = model(x.to(device))
            loss = torch.nn.functional.cross_entropy(logits, classes.to(device))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        return [parameter.detach().cpu() for parameter in model.parameters()]
    for here, there in zip(trained("cpu"), trained("dl")):
        torch.testing.assert_close(there, here)
    print(torch.dl.fallback_stats().totals["fallback"], flush=True)
    # torch's autograd threads hold Python objects when the interpreter exits.
    import os
    os._exit(0)
    """
    assert run(code, DL_CUDA_DRIVER=simulator, DL_VENDORS="cuda") == "0\n"


def test_a_sample_of_the_conformance_cases_passes(simulator: str, tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    chosen = (
        "--sample",
        f"400/{SEED}",
        "-k",
        "not runtime",
        "--seconds",
        "300",
    )
    options = ("--vendor", "cuda", "--simulate", *chosen, "--json", str(report))
    command = [sys.executable, "-m", "dl_conformance", *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, " ".join(command) + done.stdout + done.stderr
    found = json.loads(report.read_text())
    assert found["vendor"]["simulated"]["DL_CUDA_DRIVER"] == simulator
    assert found["counts"]["passed"] > 40

"""Tests of products by a library: a fake cuBLASLt, which checks every argument, on a simulator."""

from __future__ import annotations

from pathlib import Path

import pytest
from library_tests.products import PRELUDE, ROUNDED, Calls

from processes import compile_library, run, run_on_vendor


@pytest.fixture(scope="module")
def fake_cublaslt(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(compile_library("cublaslt", tmp_path_factory.mktemp("cublaslt")))


@pytest.fixture
def settings(simulator: str, fake_cublaslt: str, tmp_path: Path) -> Calls:
    return Calls(
        "FAKE_CUBLASLT_CALLS",
        "cublasLtMatmul",
        DL_CUDA_DRIVER=simulator,
        DL_CUDA_CUBLASLT=fake_cublaslt,
        FAKE_CUBLASLT_CALLS=str(tmp_path / "calls"),
    )


def test_layouts_and_dtypes(settings: Calls) -> None:
    code = """
    for dtype in ("float32", "float64", "float16"):
        a, b = numbers(5, 7, dtype=dtype), numbers(7, 3, dtype=dtype)
        wanted = (a.astype("float64") @ b.astype("float64")).astype(dtype)
        for left in (a, np.asfortranarray(a)):
            for right in (b, np.asfortranarray(b)):
                np.testing.assert_array_equal(mm(left, right, dtype), wanted)
    a, b = numbers(4, 5, 6), numbers(4, 6, 3)
    np.testing.assert_array_equal(mm(a, b), a @ b)
    """
    run_on_vendor(PRELUDE + code, **settings)
    products = settings.done
    assert products[:4] == [f"32f 3x5x7 batch 1 {layout}" for layout in ("NN", "TN", "NT", "TT")]
    assert products[4].startswith("64f") and products[8].startswith("16f")
    assert products[12:] == ["32f 3x5x6 batch 4 NN"]


def test_scales_and_bias(settings: Calls) -> None:
    code = """
    given, a, b, c = numbers(5, 3), numbers(5, 8), numbers(8, 3), vendor.empty((5, 3))
    vendor.op.Addmm(c, vendor.tensor(given), vendor.tensor(a), vendor.tensor(b), 2.0, 3.0)
    np.testing.assert_array_equal(c.numpy(), 2 * given + 3 * (a @ b))
    row = numbers(3)
    vendor.op.Addmm(c, vendor.tensor(row), vendor.tensor(a), vendor.tensor(b), 1.0, 1.0)
    np.testing.assert_array_equal(c.numpy(), row + a @ b)
    """
    run_on_vendor(PRELUDE + code, **settings)
    assert settings.done == ["32f 3x5x8 batch 1 NN", "32f 3x5x8 batch 1 NN bias"]


def test_half_precision_results_are_rounded_once(settings: Calls) -> None:
    """cuBLASLt rounds a product before it adds beta · c, and some of its kernels before a bias."""
    code = """
    def add(given, columns):
        a, b = numbers(5, 8, dtype="float16"), numbers(8, columns, dtype="float16")
        out = vendor.empty((5, columns), "float16")
        vendor.op.Addmm(out, *(vendor.tensor(x) for x in (given, a, b)), 1.0, 1.0)
        np.testing.assert_array_equal(out.numpy(), given + a @ b)
    for columns in 8, 3:
        add(numbers(columns, dtype="float16"), columns)
        add(numbers(5, columns, dtype="float16"), columns)
    """
    run_on_vendor(PRELUDE + code, **settings)
    assert settings.done == ["16f 8x5x8 batch 1 NN bias"]


def test_torch_multiplies_with_the_library(settings: Calls) -> None:
    code = """
    import torch
    torch.manual_seed(0)
    whole = torch.randint(-4, 5, (6, 20)).float()
    b = torch.randint(-4, 5, (8, 3)).float()
    view = whole.to("dl")[1:5, 3:11]
    assert torch.equal((view @ b.to("dl")).cpu(), whole[1:5, 3:11] @ b)
    half, other = whole[:, :8].bfloat16(), b.bfloat16()
    assert torch.equal((half.to("dl") @ other.to("dl")).cpu(), half @ other)
    layer = torch.nn.Linear(8, 3)
    x = torch.randn(5, 8)
    there = torch.nn.Linear(8, 3).to("dl")
    there.load_state_dict(layer.state_dict())
    torch.testing.assert_close(there(x.to("dl")).cpu(), layer(x))
    there(x.to("dl")).sum().backward()
    layer(x).sum().backward()
    torch.testing.assert_close(there.weight.grad.cpu(), layer.weight.grad)
    print("right", flush=True)
    import os
    os._exit(0)
    """
    output = run(code, **{**settings, "DL_VENDORS": "cuda"})
    assert output.endswith("right\n"), output
    assert "32f 3x4x8 batch 1 NN" in settings.done
    assert any(product.startswith("16bf") for product in settings.done)


def test_tf32_is_used_while_users_allow_it(settings: Calls) -> None:
    code = """
    a, b = draw(5, 64), draw(64, 3)
    for tf32 in (False, True, False):
        judge(a, b, tf32)
    host.tf32_products = True
    mm(a.astype("float64"), b.astype("float64"), "float64")
    mm(a.astype("float16"), b.astype("float16"), "float16")
    """
    run_on_vendor(PRELUDE + ROUNDED + code, **settings)
    exact, wide, half = "32f 3x5x64 batch 1 NN", "64f 3x5x64 batch 1 NN", "16f 3x5x64 batch 1 NN"
    assert settings.done == [exact, exact + " tf32", exact, wide, half]


def test_our_own_kernels_round_to_tf32_too(settings: Calls) -> None:
    code = """
    for tf32 in (False, True, False):
        judge(draw(5, 64), draw(64, 3), tf32)
    # Full and partial tiles, parts of a long sum, and operands that are contiguous in either
    # dimension.
    for m, k, n in ((68, 40, 72), (3, 7, 70), (9, 600, 12)):
        for left in (draw(m, k), np.asfortranarray(draw(m, k))):
            for right in (draw(k, n), np.asfortranarray(draw(k, n))):
                judge(left, right, True)
    judge(draw(2, 20, 24), draw(2, 24, 8), True)
    a, b = draw(5, 8), np.ones((8, 4), np.float32)
    a[0, 1], a[1, 2], a[2, 3] = np.nan, np.inf, -np.inf
    host.tf32_products = True
    got = mm(a, b)
    assert np.isnan(got[0]).all() and (got[1] == np.inf).all() and (got[2] == -np.inf).all()
    assert np.isfinite(got[3:]).all()
    """
    run_on_vendor(PRELUDE + ROUNDED + code, **{**settings, "DL_CUDA_LIBRARIES": "off"})
    assert settings.done == []


def test_accumulated_half_precision_products_stay_float32(settings: Calls) -> None:
    code = """
    left, right, grad = (numbers(*s, dtype="float16") for s in ((1, 4, 5), (3, 5, 6), (3, 4, 6)))
    to_left, to_right = vendor.empty((1, 4, 5), "float16"), vendor.empty((3, 5, 6), "float16")
    vendor.op.MatmulBackward(to_left, to_right, *map(vendor.tensor, (grad, left, right)))
    wanted = (grad.astype("float32") @ right.astype("float32").transpose(0, 2, 1)).sum(0)
    np.testing.assert_array_equal(to_left.numpy()[0], wanted.astype("float16"))
    wanted = left.astype("float32").transpose(0, 2, 1) @ grad.astype("float32")
    np.testing.assert_array_equal(to_right.numpy(), wanted.astype("float16"))
    """
    run_on_vendor(PRELUDE + code, **settings)
    assert settings.done == ["16f 5x4x6 batch 3 TN to 32f", "16f 6x5x4 batch 3 NT"]


def test_torch_controls_the_precision_of_products(settings: Calls) -> None:
    code = """
    import torch
    a, b = torch.ones(5, 8, device="dl"), torch.ones(8, 3, device="dl")
    matmul = torch.backends.cuda.matmul
    a @ b
    torch.set_float32_matmul_precision("high")
    a @ b
    matmul.allow_tf32 = False
    a @ b
    matmul.fp32_precision = "tf32"
    layer = torch.nn.functional.linear(a.requires_grad_(), b.t())
    layer.backward(torch.ones_like(layer))
    matmul.fp32_precision = "ieee"
    print((a @ b).cpu().sum().item(), flush=True)
    import os
    os._exit(0)
    """
    output = run(code, **{**settings, "DL_VENDORS": "cuda"})
    assert output.endswith("120.0\n"), output
    assert [" tf32" in product for product in settings.done] == [0, 1, 0, 1, 1, 0]


def test_algorithms_are_queried_once(settings: Calls) -> None:
    code = """
    a, b = numbers(4, 5), numbers(5, 6)
    for _ in range(3):
        mm(a, b)
    mm(numbers(5, 5), b)
    """
    run_on_vendor(PRELUDE + code, **settings)
    assert settings.calls.count("cublasLtMatmulAlgoGetHeuristic") == 2
    assert settings.calls.count("cublasLtCreate") == 1
    assert len(settings.done) == 4


def test_each_device_and_thread_has_a_handle(settings: Calls) -> None:
    code = """
    import threading
    a, b = numbers(4, 5), numbers(5, 6)
    def on(device):
        out = vendor.empty((4, 6), device=device)
        vendor.op.Matmul(out, vendor.tensor(a, device=device), vendor.tensor(b, device=device))
        np.testing.assert_array_equal(out.numpy(), a @ b)
    for device in (0, 1, 0):
        on(device)
    thread = threading.Thread(target=on, args=(1,))
    thread.start()
    thread.join()
    """
    run_on_vendor(PRELUDE + code, **settings, DL_GPU_SIM_DEVICES="2")
    assert settings.calls.count("cublasLtCreate") == 3
    assert len(settings.done) == 4


@pytest.mark.parametrize(
    "variables",
    [
        {"DL_CUDA_LIBRARIES": "off"},
        {"DL_CUDA_CUBLASLT": "off"},
        {"DL_CUDA_CUBLASLT": "/nowhere/libcublasLt.so.13"},
        {"FAKE_CUBLASLT_FAIL": "cublasLtCreate:3"},
        {"FAKE_CUBLASLT_FAIL": "cublasLtMatmulAlgoGetHeuristic:15"},
        {"FAKE_CUBLASLT_FAIL": "cublasLtMatmul:15"},
    ],
)
def test_our_own_kernels_run_unsupported_products(
    settings: Calls, variables: dict[str, str]
) -> None:
    code = """
    a, b = numbers(5, 7), numbers(7, 3)
    np.testing.assert_array_equal(mm(a, b), a @ b)
    """
    run_on_vendor(PRELUDE + code, **{**settings, **variables})
    assert settings.done == []

"""Tests of matrix products by a library.

The fixture ``multiplying`` of a vendor's tests is the vendor with a fake cuBLASLt or hipBLASLt.
"""

from __future__ import annotations

from .vendor import LibraryVendor

PRELUDE = """
    rng = np.random.default_rng(0)
    def numbers(*shape, dtype="float32"):
        return rng.integers(-4, 5, shape).astype(dtype)
    def mm(a, b, dtype="float32"):
        out = vendor.empty((*a.shape[:-1], b.shape[-1]), dtype)
        vendor.op.Matmul(out, vendor.tensor(a), vendor.tensor(b))
        return out.numpy()
"""

# Factors rounded to TF32, and the error bound of a sum of products in float32.
ROUNDED = """
    from diopi_proto.host.hosttable import default_host
    host = default_host()
    def rounded(x):
        bits = (x.view(np.uint32) + np.uint32(0x1000)) & np.uint32(0xFFFFE000)
        return bits.view(np.float32).astype(np.float64)
    def judge(a, b, tf32):
        host.tf32_products = tf32
        got = mm(a, b)
        host.tf32_products = False
        x, y = a.astype(np.float64), b.astype(np.float64)
        bound = 1e-6 * (abs(x) @ abs(y)) + 1e-6
        is_exact = (abs(got - x @ y) <= bound).all()
        is_rounded = (abs(got - rounded(a) @ rounded(b)) <= bound).all()
        assert (is_exact, is_rounded) == (not tf32, tf32), (is_exact, is_rounded)
        assert (abs(got - x @ y) <= 2.0**-10 * (abs(x) @ abs(y)) + 1e-6).all()
    def draw(*shape):
        return rng.standard_normal(shape, dtype=np.float32)
"""


def test_layouts_and_dtypes(multiplying: LibraryVendor) -> None:
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
    multiplying.run_on_vendor(PRELUDE + code)
    products = multiplying.done
    assert products[:4] == [f"32f 3x5x7 batch 1 {layout}" for layout in ("NN", "TN", "NT", "TT")]
    assert products[4].startswith("64f") and products[8].startswith("16f")
    assert products[12:] == ["32f 3x5x6 batch 4 NN"]


def test_scales_and_bias(multiplying: LibraryVendor) -> None:
    code = """
    given, a, b, c = numbers(5, 3), numbers(5, 8), numbers(8, 3), vendor.empty((5, 3))
    vendor.op.Addmm(c, vendor.tensor(given), vendor.tensor(a), vendor.tensor(b), 2.0, 3.0)
    np.testing.assert_array_equal(c.numpy(), 2 * given + 3 * (a @ b))
    row = numbers(3)
    vendor.op.Addmm(c, vendor.tensor(row), vendor.tensor(a), vendor.tensor(b), 1.0, 1.0)
    np.testing.assert_array_equal(c.numpy(), row + a @ b)
    """
    multiplying.run_on_vendor(PRELUDE + code)
    assert multiplying.done == ["32f 3x5x8 batch 1 NN", "32f 3x5x8 batch 1 NN bias"]


def test_torch_multiplies_with_the_library(multiplying: LibraryVendor) -> None:
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
    output = multiplying.run(code)
    assert output.endswith("right\n"), output
    assert "32f 3x4x8 batch 1 NN" in multiplying.done
    assert any(product.startswith("16bf") for product in multiplying.done)


def test_tf32_is_used_while_users_allow_it(multiplying: LibraryVendor) -> None:
    code = """
    a, b = draw(5, 64), draw(64, 3)
    for tf32 in (False, True, False):
        judge(a, b, tf32)
    host.tf32_products = True
    mm(a.astype("float64"), b.astype("float64"), "float64")
    mm(a.astype("float16"), b.astype("float16"), "float16")
    """
    multiplying.run_on_vendor(PRELUDE + ROUNDED + code)
    exact, wide, half = "32f 3x5x64 batch 1 NN", "64f 3x5x64 batch 1 NN", "16f 3x5x64 batch 1 NN"
    assert multiplying.done == [exact, exact + " tf32", exact, wide, half]


def test_accumulated_half_precision_products_stay_float32(multiplying: LibraryVendor) -> None:
    code = """
    left, right, grad = (numbers(*s, dtype="float16") for s in ((1, 4, 5), (3, 5, 6), (3, 4, 6)))
    to_left, to_right = vendor.empty((1, 4, 5), "float16"), vendor.empty((3, 5, 6), "float16")
    vendor.op.MatmulBackward(to_left, to_right, *map(vendor.tensor, (grad, left, right)))
    wanted = (grad.astype("float32") @ right.astype("float32").transpose(0, 2, 1)).sum(0)
    np.testing.assert_array_equal(to_left.numpy()[0], wanted.astype("float16"))
    wanted = left.astype("float32").transpose(0, 2, 1) @ grad.astype("float32")
    np.testing.assert_array_equal(to_right.numpy(), wanted.astype("float16"))
    """
    multiplying.run_on_vendor(PRELUDE + code)
    assert multiplying.done == ["16f 5x4x6 batch 3 TN to 32f", "16f 6x5x4 batch 3 NT"]


def test_torch_controls_the_precision_of_products(multiplying: LibraryVendor) -> None:
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
    output = multiplying.run(code)
    assert output.endswith("120.0\n"), output
    assert [" tf32" in product for product in multiplying.done] == [0, 1, 0, 1, 1, 0]


def test_algorithms_are_queried_once(multiplying: LibraryVendor) -> None:
    code = """
    a, b = numbers(4, 5), numbers(5, 6)
    for _ in range(3):
        mm(a, b)
    mm(numbers(5, 5), b)
    """
    multiplying.run_on_vendor(PRELUDE + code)
    assert multiplying.calls.count(multiplying.prefix + "MatmulAlgoGetHeuristic") == 2
    assert multiplying.calls.count(multiplying.prefix + "Create") == 1
    assert len(multiplying.done) == 4


def test_each_device_and_thread_has_a_handle(multiplying: LibraryVendor) -> None:
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
    multiplying.with_devices(2).run_on_vendor(PRELUDE + code)
    assert multiplying.calls.count(multiplying.prefix + "Create") == 3
    assert len(multiplying.done) == 4


def multiply_without_library(multiplying: LibraryVendor) -> None:
    """Check that the vendor's own kernels compute a product that the library declines."""
    code = """
    a, b = numbers(5, 7), numbers(7, 3)
    np.testing.assert_array_equal(mm(a, b), a @ b)
    """
    multiplying.run_on_vendor(PRELUDE + code)
    assert multiplying.done == []

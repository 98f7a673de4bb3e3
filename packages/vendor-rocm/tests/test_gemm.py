"""Tests of products by a library: a fake hipBLASLt, which checks every argument."""

from __future__ import annotations

from pathlib import Path

import pytest
from library_tests.products import PRELUDE, ROUNDED, Calls

from conftest import long
from processes import compile_library, run, run_on_vendor


@pytest.fixture(scope="module")
def fake_hipblaslt(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(compile_library("hipblaslt", tmp_path_factory.mktemp("hipblaslt")))


@pytest.fixture
def settings(simulated: dict[str, str], fake_hipblaslt: str, tmp_path: Path) -> Calls:
    return Calls(
        "FAKE_HIPBLASLT_CALLS",
        "hipblasLtMatmul",
        **simulated,
        DL_ROCM_HIPBLASLT=fake_hipblaslt,
        FAKE_HIPBLASLT_CALLS=str(tmp_path / "calls"),
    )


def test_layouts_dtypes_scales_and_bias(settings: Calls) -> None:
    code = """
    for dtype in ("float32", "float64", "float16"):
        a, b = numbers(5, 7, dtype=dtype), numbers(7, 3, dtype=dtype)
        wanted = (a.astype("float64") @ b.astype("float64")).astype(dtype)
        for left in (a, np.asfortranarray(a)):
            for right in (b, np.asfortranarray(b)):
                np.testing.assert_array_equal(mm(left, right, dtype), wanted)
    a, b = numbers(4, 5, 6), numbers(4, 6, 3)
    np.testing.assert_array_equal(mm(a, b), a @ b)
    given, a, b, c = numbers(5, 3), numbers(5, 8), numbers(8, 3), vendor.empty((5, 3))
    vendor.op.Addmm(c, vendor.tensor(given), vendor.tensor(a), vendor.tensor(b), 2.0, 3.0)
    np.testing.assert_array_equal(c.numpy(), 2 * given + 3 * (a @ b))
    row = numbers(3)
    vendor.op.Addmm(c, vendor.tensor(row), vendor.tensor(a), vendor.tensor(b), 1.0, 1.0)
    np.testing.assert_array_equal(c.numpy(), row + a @ b)
    """
    run_on_vendor(PRELUDE + code, **settings)
    products = settings.done
    assert products[:4] == [f"32f 3x5x7 batch 1 {layout}" for layout in ("NN", "TN", "NT", "TT")]
    assert products[4].startswith("64f") and products[8].startswith("16f")
    plain = "32f 3x5x8 batch 1 NN"
    assert products[12:] == ["32f 3x5x6 batch 4 NN", plain, plain + " bias"]


@long
def test_results_of_both_are_equal(settings: Calls) -> None:
    """Results are the same from both, and accumulated half precision products stay float32."""
    code = """
    left, right, grad = (numbers(*s, dtype="float16") for s in ((1, 4, 5), (3, 5, 6), (3, 4, 6)))
    to_left, to_right = vendor.empty((1, 4, 5), "float16"), vendor.empty((3, 5, 6), "float16")
    vendor.op.MatmulBackward(to_left, to_right, *map(vendor.tensor, (grad, left, right)))
    wanted = (grad.astype("float32") @ right.astype("float32").transpose(0, 2, 1)).sum(0)
    np.testing.assert_array_equal(to_left.numpy()[0], wanted.astype("float16"))
    a, b = numbers(33, 40), numbers(40, 17)
    print(to_right.numpy().tolist(), mm(a, b).tolist())
    """
    output = run_on_vendor(PRELUDE + code, **settings)
    assert settings.done[:2] == ["16f 5x4x6 batch 3 TN to 32f", "16f 6x5x4 batch 3 NT"]
    assert output == run_on_vendor(PRELUDE + code, **settings, DL_ROCM_LIBRARIES="off")
    assert len(settings.done) == 3


@long
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


@long
def test_a_device_without_tf32_multiplies_in_full_precision(settings: Calls) -> None:
    code = """
    host.tf32_products = True
    a, b = draw(5, 64), draw(64, 3)
    for _ in range(2):
        np.testing.assert_allclose(mm(a, b), a @ b, rtol=1e-5, atol=1e-5)
    """
    run_on_vendor(PRELUDE + ROUNDED + code, **settings, FAKE_HIPBLASLT_TF32="off")
    assert settings.done == ["32f 3x5x64 batch 1 NN"] * 2
    assert settings.calls.count("hipblasLtMatmulAlgoGetHeuristic") == 2


@long
def test_torch_multiplies_with_the_library_and_controls_its_precision(settings: Calls) -> None:
    code = """
    import torch
    torch.manual_seed(0)
    whole = torch.randint(-4, 5, (6, 20)).float()
    b = torch.randint(-4, 5, (8, 3)).float()
    view = whole.to("dl")[1:5, 3:11]
    assert torch.equal((view @ b.to("dl")).cpu(), whole[1:5, 3:11] @ b)
    half, other = whole[:, :8].bfloat16(), b.bfloat16()
    assert torch.equal((half.to("dl") @ other.to("dl")).cpu(), half @ other)
    torch.set_float32_matmul_precision("high")
    assert torch.equal((view @ b.to("dl")).cpu(), whole[1:5, 3:11] @ b)
    print("right", flush=True)
    import os
    os._exit(0)
    """
    output = run(code, **{**settings, "DL_VENDORS": "rocm"})
    assert output.endswith("right\n"), output
    exact = "32f 3x4x8 batch 1 NN"
    assert settings.done == [exact, "16bf 3x6x8 batch 1 NN", exact + " tf32"]


@long
def test_algorithms_are_queried_once_and_each_device_and_thread_has_a_handle(
    settings: Calls,
) -> None:
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
    run_on_vendor(PRELUDE + code, **settings, FAKE_HIP_DEVICES="gfx90a,gfx1030")
    assert settings.calls.count("hipblasLtCreate") == 3
    assert settings.calls.count("hipblasLtMatmulAlgoGetHeuristic") == 2
    assert len(settings.done) == 4


@pytest.mark.parametrize(
    "variables",
    [
        {"DL_ROCM_LIBRARIES": "off"},
        pytest.param({"DL_ROCM_HIPBLASLT": "off"}, marks=long),
        pytest.param({"DL_ROCM_HIPBLASLT": "/nowhere/libhipblaslt.so.1"}, marks=long),
        pytest.param({"FAKE_HIP_VERSION": "50700000"}, marks=long),
        pytest.param({"FAKE_HIPBLASLT_FAIL": "hipblasLtCreate:2"}, marks=long),
        {"FAKE_HIPBLASLT_FAIL": "hipblasLtMatmulAlgoGetHeuristic:7"},
        pytest.param({"FAKE_HIPBLASLT_FAIL": "hipblasLtMatmul:7"}, marks=long),
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


@long
def test_the_fake_detects_wrong_arguments(settings: Calls, tmp_path: Path) -> None:
    """A caller with another library's constants is detected."""
    source = tmp_path / "caller.py"
    source.write_text(
        """
import os, cffi
ffi = cffi.FFI()
ffi.cdef('''
int hipblasLtMatmulDescCreate(void**, int, int);
int hipblasLtMatmulDescSetAttribute(void*, int, const void*, size_t);
int hipblasLtMatrixLayoutCreate(void**, int, uint64_t, uint64_t, int64_t);
int hipblasLtMatmulPreferenceCreate(void**);
int hipblasLtMatmulAlgoGetHeuristic(void*, void*, void*, void*, void*, void*, void*, int, void*,
                                    int*);
''')
lt = ffi.dlopen(os.environ["DL_ROCM_HIPBLASLT"])
def made(create, *arguments):
    to = ffi.new("void **")
    assert create(to, *arguments) == 0
    return to[0]
product = made(lt.hipblasLtMatmulDescCreate, int(os.environ["COMPUTE"]), 0)
turned = ffi.new("int *", int(os.environ["TURNED"]))
print(lt.hipblasLtMatmulDescSetAttribute(product, 0, turned, int(os.environ["SIZE"])))
a, b, c = (made(lt.hipblasLtMatrixLayoutCreate, 0, *s) for s in ((2, 3, 2), (3, 4, 3), (2, 4, 2)))
preference = made(lt.hipblasLtMatmulPreferenceCreate)
print(lt.hipblasLtMatmulAlgoGetHeuristic(ffi.NULL, product, a, b, c, c, preference, 1,
                                         ffi.new("char[128]"), ffi.new("int *")))
""",
        encoding="utf-8",
    )
    code = f"import runpy; runpy.run_path({str(source)!r})"
    right = {"COMPUTE": "2", "TURNED": "111", "SIZE": "4"}
    # No workspace was allowed, which is valid.
    assert run(code, **settings, **right) == "0\n7\n"
    assert run(code, **settings, **{**right, "SIZE": "8"}) == "3\n7\n"
    for wrong, words in (
        ({"COMPUTE": "68"}, "an unsupported compute type"),
        ({"TURNED": "1"}, "an unknown matrix operation"),
        ({"TURNED": "112"}, "sizes that do not match"),
    ):
        with pytest.raises(AssertionError, match=words):
            run(code, **settings, **{**right, **wrong})

"""Operators are forced to the vendor, or to torch's CPU, temporarily and by name."""

from __future__ import annotations

import threading

import pytest
import torch

from .processes import RUNS_ONCE, VENDORS, output, run


def fallen_back() -> set[str]:
    return set(torch.dl.fallback_stats())


@pytest.fixture(autouse=True)
def _counts() -> None:
    torch.dl.reset_fallback_stats()


def test_forms_go_together_for_a_while() -> None:
    x = torch.ones(3, device="dl")
    with torch.dl.force_fallback("add.out") as names:
        assert names == ["add.Tensor"]
        assert (x + x).tolist() == [2, 2, 2]
        x.add_(1)
        _ = x * x
    assert fallen_back() == {"add.Tensor", "add_.Tensor"}
    torch.dl.reset_fallback_stats()
    _ = x + x
    assert fallen_back() == set()


def test_composites_of_torch_stand_for_their_parts() -> None:
    x, w = torch.ones(1, 1, 4, 4, device="dl"), torch.ones(1, 1, 2, 2, device="dl")
    with torch.dl.force_fallback("conv2d"):
        torch.nn.functional.conv2d(x, w)
    assert any("convolution" in name for name in fallen_back()), fallen_back()


def test_blocks_nest_and_add_to_what_is_forced() -> None:
    x = torch.ones(3, device="dl")
    torch.dl.set_force_fallback("mul.Tensor")
    try:
        with torch.dl.force_fallback(["add.Tensor"]):
            with torch.dl.force_fallback("sub.Tensor"):
                _ = x + x, x - x, x * x
            assert fallen_back() == {"add.Tensor", "sub.Tensor", "mul.Tensor"}
            torch.dl.reset_fallback_stats()
            _ = x + x, x - x, x * x
            assert fallen_back() == {"add.Tensor", "mul.Tensor"}
        torch.dl.reset_fallback_stats()
        _ = x + x, x - x, x * x
        assert fallen_back() == {"mul.Tensor"}
    finally:
        torch.dl.set_force_fallback([])
    torch.dl.reset_fallback_stats()
    _ = x * x
    assert fallen_back() == set()


def test_an_error_inside_ends_the_block() -> None:
    x = torch.ones(3, device="dl")
    with pytest.raises(ZeroDivisionError), torch.dl.force_fallback("add.*"):
        raise ZeroDivisionError
    _ = x + x
    assert fallen_back() == set()


def test_blocks_of_threads_end_in_any_order() -> None:
    entered, leave = threading.Event(), threading.Event()

    def block() -> None:
        with torch.dl.force_fallback("add.Tensor"):
            entered.set()
            leave.wait()

    thread = threading.Thread(target=block)
    thread.start()
    entered.wait()
    x = torch.ones(3, device="dl")
    with torch.dl.force_fallback("mul.Tensor"):
        leave.set()
        thread.join()
        _ = x + x, x * x
        assert fallen_back() == {"mul.Tensor"}
    torch.dl.reset_fallback_stats()
    _ = x + x, x * x
    assert fallen_back() == set()


@torch.dl.force_fallback("add.Tensor") if hasattr(torch, "dl") else lambda function: function
def decorated(x: torch.Tensor) -> torch.Tensor:
    return x + x


def test_it_decorates() -> None:
    x = torch.ones(3, device="dl")
    for _ in range(2):
        decorated(x)
    _ = x + x
    assert torch.dl.fallback_stats()["add.Tensor"]["count"] == 2


@pytest.mark.parametrize("api", ["force_fallback", "keep_default"])
def test_an_invalid_pattern_is_an_error_and_changes_nothing(api: str) -> None:
    with pytest.raises(ValueError, match=rf"\[torch\.dl\.{api}\] 'add\(' is not a regular"):
        getattr(torch.dl, api)("add(").__enter__()
    with pytest.raises(TypeError, match="a sequence of strings"):
        getattr(torch.dl, api)(7).__enter__()
    _ = torch.ones(3, device="dl") + 1
    assert "add.Tensor" not in fallen_back()


@RUNS_ONCE
@pytest.mark.parametrize(
    ("vendors", "variable"),
    [*zip(VENDORS, ("DL_FORCE_FALLBACK_OPS_LIST", "DIPU_FORCE_FALLBACK_OPS_LIST"), strict=True)],
)
def test_variables_of_dipu_and_alike(vendors: str, variable: str) -> None:
    code = """
import torch
x = torch.ones(3, device="dl")
x + x
print(sorted(torch.dl.fallback_stats()))
"""
    variables = {"DL_VENDORS": vendors, variable: "add.out,.*.Scalar"}
    assert "'add.Tensor', 'fill_.Scalar'" in output(code, **variables)


@RUNS_ONCE
def test_entries_that_match_no_operator_are_named_with_the_closest() -> None:
    code = "import torch; torch.ones(1, device='dl') + 1; print(*torch.dl.fallback_stats())"
    done = run(
        code,
        DL_VENDORS=VENDORS[0],
        DIPU_FORCE_FALLBACK_OPS_LIST="diopiAddd,add.Tensr,mul,add.Tensor,unique_dim",
        DL_AUTOCOMPARE="sub.Tensors",
    )
    assert "add.Tensor" in done.stdout.split(), done.stderr
    list_of_dipu = "DIPU_FORCE_FALLBACK_OPS_LIST: "
    for sentence in (
        f"{list_of_dipu}'diopiAddd' matches no operator; names are those of torch's overloads",
        f"{list_of_dipu}'add.Tensr' matches no operator; did you mean add.Tensor?",
        f"{list_of_dipu}'mul' matches no operator; did you mean mul.",
        "DL_AUTOCOMPARE: 'sub.Tensors' matches no operator; did you mean sub.Tensor?",
    ):
        assert sentence in done.stderr
    assert done.stderr.count("matches no operator") == 4


@RUNS_ONCE
def test_one_expression_of_dipu_forces_all_operators() -> None:
    code = """
import torch
x = torch.ones(3, device="dl")
(x + x).exp()
print(sorted({"add.Tensor", "exp"} & set(torch.dl.fallback_stats())))
"""
    said = output(code, DL_VENDORS=VENDORS[0], DIPU_FORCE_FALLBACK_OPS_LIST=".*")
    assert "['add.Tensor', 'exp']" in said


def test_a_kept_default_is_made_of_other_operators() -> None:
    x, w = torch.randn(2, 3).to("dl"), torch.ones(3, device="dl")
    want = torch.nn.functional.layer_norm(x.cpu(), (3,), w.cpu())
    with torch.dl.autocompare() as plain:
        torch.nn.functional.layer_norm(x, (3,), w)
    with torch.dl.keep_default("native_layer_norm") as names, torch.dl.autocompare() as kept:
        got = torch.nn.functional.layer_norm(x, (3,), w)
    assert names == ["native_layer_norm"]
    assert len(kept.compared) > len(plain.compared), (plain, kept)
    torch.testing.assert_close(got.cpu(), want)
    with torch.dl.autocompare() as after:
        torch.nn.functional.layer_norm(x, (3,), w)
    assert after.compared == plain.compared


def test_a_default_above_autograd_has_gradients_of_its_parts() -> None:
    def step() -> tuple[torch.Tensor, torch.Tensor]:
        x = torch.arange(12.0).reshape(1, 4, 3).to("dl").requires_grad_()
        y = torch.nn.functional.group_norm(x, 2)
        y.square().sum().backward()
        assert x.grad is not None
        return y.detach().cpu(), x.grad.cpu()

    plain = step()
    with torch.dl.keep_default("group_norm") as names:
        kept = step()
    assert names == ["group_norm"]
    torch.testing.assert_close(kept, plain)


def test_what_torch_has_only_kernels_for_cannot_be_kept() -> None:
    with pytest.raises(ValueError, match=r"no implementation of add\.out that .*force_fallback"):
        torch.dl.set_keep_default("add.out")


def test_a_variable_that_cannot_be_followed_leaves_the_device_on() -> None:
    code = "import torch; print((torch.ones(2, device='dl') + 1).tolist())"
    variables = {
        "DL_KEEP_TORCHOP_DEFAULT_IMPL_OPS": "add.out",
        "DL_AUTOCOMPARE": "(a",
        "DL_DUMP_OP_ARGS": "9",
        "DL_FORCE_FALLBACK": "(a+)\\2",
    }
    done = run(code, **variables)
    assert done.stdout == "[2.0, 2.0]\n", done.stderr
    for name in variables:
        assert name in done.stderr


def test_the_default_is_kept_by_variable() -> None:
    code = """
import torch
with torch.dl.autocompare() as report:
    torch.nn.functional.layer_norm(torch.ones(2, 3, device="dl"), (3,))
print(len(report.compared) > 2, len(report.wrong))
"""
    variables = {"DIPU_KEEP_TORCHOP_DEFAULT_IMPL_OPS": "native_layer_norm"}
    assert output(code, **variables) == "True 0"


def test_entries_without_a_composite_implementation_leave_the_others() -> None:
    code = """
import torch
with torch.dl.autocompare() as report:
    torch.nn.functional.layer_norm(torch.ones(2, 3, device="dl"), (3,))
print(len(report.compared) > 2)
"""
    entries = "rsqrt.out,_softmax.out,native_layer_norm"
    done = run(code, DL_KEEP_TORCHOP_DEFAULT_IMPL_OPS=entries)
    assert done.stdout == "True\n"
    assert "an entry is ignored: torch has no implementation of _softmax.out" in done.stderr
    # The documented value of DIPU's variable: dl has nothing of what it excludes.
    done = run(code, "-W", "error", DIPU_KEEP_TORCHOP_DEFAULT_IMPL_OPS=entries)
    assert (done.stdout, done.stderr) == ("True\n", "")

"""A fallback names the operator of the contract that is missing, and the vendor's own words."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .processes import RUNS_ONCE, output
from .stub_vendor import StubVendor

pytestmark = RUNS_ONCE

PREPARE = """
import torch
x = torch.arange(1.0, 5.0, device="dl")
whole = torch.arange(4, device="dl")
torch.dl.reset_fallback_stats()

def texts(name):
    return [each.text for each in torch.dl.fallback_stats().reasons[name]]
"""


@pytest.fixture(scope="module")
def declining(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    vendor = StubVendor(tmp_path_factory.mktemp("declining"))
    return vendor.compile(Path(__file__).with_name("declining_vendor.cpp")).variables()


CALLS = {
    "whole * 3": ("mul.Tensor", "diopiMulScalar declined: int64 scalar is not supported"),
    "whole.mul_(3)": ("mul_.Tensor", "diopiMulScalar declined: int64 scalar is not supported"),
    "x.sqrt()": ("sqrt", "diopiSqrt declined without a reason (diopi5DNotSupported)"),
    "x.add(1)": ("add.Tensor", "vendor stub has no diopiAddScalar"),
    "x.sub(x)": ("sub.Tensor", "vendor stub has no diopiSub"),
    "x.sub(2)": ("sub.Tensor", "vendor stub has no diopiSubScalar"),
    "x.div_(2)": ("div_.Tensor", "vendor stub has no diopiDivScalar"),
    "torch.div(whole, 2, rounding_mode='floor')": (
        "div.Tensor_mode",
        "vendor stub has no diopiDivScalar",
    ),
    "x.gt(x)": ("gt.Tensor", "vendor stub has no diopiGt"),
    "x.sin()": ("sin", "vendor stub has no diopiSin"),
    "torch.nn.functional.conv3d(volume, volume)": (
        "convolution",
        "vendor stub has no diopiConvolution3d",
    ),
    "x.exp()": ("exp", "vendor stub was built against another contract's diopiExp"),
    "complex_.abs()": ("abs", "dl-core does not pass these arguments to diopiAbs"),
    "torch.clamp(x > 2, torch.tensor(False))": (
        "clamp.Tensor",
        "dl-core does not compose it of other operators for these arguments",
    ),
    "torch.sparse.softmax(sparse, 1)": (
        "_sparse_softmax",
        "dl-core has no kernel for these sparse tensors",
    ),
    "torch.linalg.eigvalsh(square)": ("_linalg_eigh", "no operator of the contract computes it"),
}
"""Calls, the overloads that run on the CPU, and the reasons."""


@pytest.fixture(scope="module")
def reasons(declining: dict[str, str]) -> dict[str, tuple[dict[str, list[str]], str]]:
    """Return the reasons of each call by overload, and the error where fallbacks are forbidden."""
    code = f"""{PREPARE}
import json
square, complex_ = torch.eye(2).to("dl"), torch.ones(2, dtype=torch.complex64).to("dl")
volume, sparse = torch.ones(1, 1, 1, 1, 1).to("dl"), torch.eye(2).to_sparse().to("dl")
found = {{}}
for call in {list(CALLS)!r}:
    torch.dl.reset_fallback_stats()
    eval(call)
    stats, error = torch.dl.fallback_stats(), ""
    with torch.dl.fallback("error"):
        try:
            eval(call)
        except NotImplementedError as refused:
            error = str(refused)
    found[call] = ({{name: [x.text for x in all_] for name, all_ in stats.reasons.items()}}, error)
print(json.dumps(found))
"""
    return json.loads(output(code, **declining))


@pytest.mark.parametrize("call", CALLS)
def test_the_reason_is_in_the_statistics_and_in_the_error(
    reasons: dict[str, tuple[dict[str, list[str]], str]], call: str
) -> None:
    overload, reason = CALLS[call]
    found, error = reasons[call]
    assert found[overload] == [reason]
    if len(found) == 1:  # otherwise another operator is refused first
        assert f"aten::{overload} does not run natively on dl:0 (vendor stub)" in error
        assert f": {reason}. CPU fallback is forbidden; set DL_FALLBACK=allow" in error


def test_the_sentence_names_operator_vendor_and_count(declining: dict[str, str]) -> None:
    code = f"""{PREPARE}
for _ in range(3):
    whole * 3
x.add(1)
print(*torch.dl.fallback_stats().explain(), sep="\\n")
"""
    assert output(code, **declining).splitlines() == [
        "aten::mul.Tensor ran on the CPU 3 times: diopiMulScalar declined: int64 scalar is not "
        "supported",
        "aten::add.Tensor ran on the CPU once: vendor stub has no diopiAddScalar",
    ]


def test_scalar_operators_do_not_need_those_on_tensors(declining: dict[str, str]) -> None:
    code = f"""{PREPARE}
x.gt(torch.tensor(2.0))
assert torch.dl.fallback_stats() == {{}}, torch.dl.fallback_stats().explain()
print(torch.dl.fallback_stats().totals["native"])
"""
    assert output(code, **declining) == "1"


def test_operands_are_not_converted_for_an_operator_that_is_absent(
    declining: dict[str, str],
) -> None:
    code = f"""{PREPARE}
x.sub(whole)
print(*torch.dl.fallback_stats().explain(), sep="\\n")
"""
    assert output(code, **declining) == (
        "aten::sub.Tensor ran on the CPU once: vendor stub has no diopiSub"
    )


def test_a_reason_has_its_parts_counts_and_time(declining: dict[str, str]) -> None:
    code = f"""{PREPARE}
with torch.dl.profile_operators():
    whole * 3
whole * 3
whole.mul(whole)
stats = torch.dl.fallback_stats()
(reason,) = stats.reasons["mul.Tensor"]
assert stats["mul.Tensor"] == {{"count": 2, "nanoseconds": reason.nanoseconds}}
assert reason.count == 2 and 0 < reason.nanoseconds < 10**9
assert stats.totals["native"] == 1
print(reason.cause, reason.operator, reason.words, sep="|")
torch.dl.reset_fallback_stats()
assert torch.dl.fallback_stats().reasons == {{}}
whole * 3
assert torch.dl.fallback_stats().reasons["mul.Tensor"][0].count == 1
"""
    assert output(code, **declining) == ("declined|diopiMulScalar|int64 scalar is not supported")


def test_words_are_printable_and_reasons_bounded(declining: dict[str, str]) -> None:
    """The words contain the size, which differs in every call."""
    code = f"""{PREPARE}
for size in range(1, 31):
    torch.ones(size, device="dl").abs()
torch.ones(1, device="dl").abs()
stats = torch.dl.fallback_stats()
(name,) = (x for x in stats if x.startswith("abs"))
assert sum(each.count for each in stats.reasons[name]) == stats[name]["count"] == 31
print(*texts(name), sep="\\n")
"""
    rest, first, *others = output(code, **declining).splitlines()
    assert rest == "further reasons" and len(others) == 7
    assert first.startswith("diopiAbs declined: 1 elements") and "too many" in first
    assert "\x1b" not in first


def test_an_operator_is_not_blamed_for_the_decline_of_another(declining: dict[str, str]) -> None:
    code = f"""{PREPARE}
torch.nn.functional.hardsigmoid(x)  # declined, and then composed of others
composed = torch.dl.fallback_stats()
assert composed and "Hardsigmoid" not in str(composed.explain()), composed.explain()
torch.dl.reset_fallback_stats()
whole * 3
with torch.dl.force_fallback("mul.Tensor"):
    whole * whole
x.sqrt()
assert set(texts("mul.Tensor")) == {{
    "diopiMulScalar declined: int64 scalar is not supported",
    "DL_FORCE_FALLBACK or force_fallback() selects it",
}}
print(*(line for line in torch.dl.fallback_stats().explain() if "sqrt" in line))
"""
    assert output(code, **declining).endswith(
        "diopiSqrt declined without a reason (diopi5DNotSupported)"
    )


def test_deterministic_algorithms_are_a_reason(declining: dict[str, str]) -> None:
    code = f"""{PREPARE}
torch.use_deterministic_algorithms(True)
x.index_put_((torch.tensor([0, 0], device="dl"),), torch.ones(2, device="dl"), accumulate=True)
print(*torch.dl.fallback_stats().explain(), sep="\\n")
"""
    assert "torch.use_deterministic_algorithms() requires a fixed order" in output(
        code, **declining
    )


def test_threads_count_their_own_reasons(declining: dict[str, str]) -> None:
    code = f"""{PREPARE}
import threading
def work(scalar):
    for _ in range(200):
        whole * 3 if scalar else torch.sqrt(x)
threads = [threading.Thread(target=work, args=(i % 2,)) for i in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(*sorted((each.text, each.count) for all_ in torch.dl.fallback_stats().reasons.values()
              for each in all_), sep="\\n")
"""
    assert output(code, **declining).splitlines() == [
        "('diopiMulScalar declined: int64 scalar is not supported', 400)",
        "('diopiSqrt declined without a reason (diopi5DNotSupported)', 400)",
    ]


def test_a_warning_has_the_reason(declining: dict[str, str]) -> None:
    code = f"""{PREPARE}
import warnings
with torch.dl.fallback("warn"), warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    whole * 3
print(caught[0].message)
"""
    assert ": diopiMulScalar declined: int64 scalar is not supported; first seen with" in output(
        code, **declining
    )


def test_blocks_that_profile_operators_may_be_nested(declining: dict[str, str]) -> None:
    code = f"""{PREPARE}
with torch.dl.profile_operators():
    with torch.dl.profile_operators():
        pass
    x.mul(x)
x.mul(x)
assert torch.dl.native_stats()["mul.Tensor"]["count"] == 1
"""
    output(code, **declining)

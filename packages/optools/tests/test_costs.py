"""Bytes and operations of single calls."""

from __future__ import annotations

import pytest
import torch

from dl_optools.timing.costs import function_bytes, overload_bytes, overload_flops, version
from dl_optools.timing.roofline import Roofline, cached_roofline, measure_roofline

aten = torch.ops.aten


def test_arguments_and_results_are_moved() -> None:
    a, b = torch.ones(2, 3), torch.ones(2, 3)
    assert overload_bytes(aten.add.Tensor, (a, b), {}, a + b) == 3 * 24
    assert overload_bytes(aten.mm.default, (a, b.t()), {}, a @ b.t()) == 24 + 24 + 16


def test_in_place_reads_and_writes() -> None:
    a, b = torch.ones(4), torch.ones(4)
    assert overload_bytes(aten.add_.Tensor, (a, b), {}, a) == 3 * 16
    assert overload_bytes(aten._foreach_add_.List, ([a], [b]), {}, None) == 3 * 16


def test_out_is_only_written() -> None:
    a, b, out = torch.ones(4), torch.ones(4), torch.empty(4)
    assert overload_bytes(aten.add.out, (a, b), {"out": out}, out) == 3 * 16


def test_views_move_nothing() -> None:
    a = torch.ones(2, 3)
    assert overload_bytes(aten.t.default, (a,), {}, a.t()) == 0
    assert function_bytes("torch.Tensor.t", [a], [version(a)], a.t()) == 0
    assert function_bytes("torch.Tensor.contiguous", [a], [version(a)], a) == 0


def test_functions_that_write_to_their_argument_move_it() -> None:
    a = torch.ones(4)
    before = version(a)
    assert function_bytes("torch.Tensor.neg_", [a], [before], a.neg_()) == 2 * 16


def test_expanded_memory_counts_once() -> None:
    a = torch.ones(1, 3).expand(100, 3)
    assert overload_bytes(aten.neg.default, (a,), {}, torch.empty(100, 3)) == 12 + 1200


def test_a_look_up_counts_the_bytes_it_reads() -> None:
    table, places = torch.ones(1000, 4), torch.arange(3)
    found = table[places]
    assert overload_bytes(aten.embedding.default, (table, places), {}, found) == 48 + 48 + 24


def test_operations_of_products() -> None:
    a, b = torch.ones(2, 3), torch.ones(3, 5)
    assert overload_flops(aten.mm.default, (a, b), {}, a @ b) == 2 * 2 * 3 * 5
    assert overload_flops(aten.add.Tensor, (a, a), {}, a) == 0


def test_operations_of_attention_on_the_cpu_are_those_of_other_devices() -> None:
    q, k, v = torch.ones(2, 3, 5, 8), torch.ones(2, 3, 7, 8), torch.ones(2, 3, 7, 16)
    out = torch.ones(2, 3, 5, 16)
    expected = 2 * 2 * 3 * 5 * 7 * (8 + 16)
    cpu = aten._scaled_dot_product_flash_attention_for_cpu.default
    other = aten._scaled_dot_product_flash_attention.default
    assert overload_flops(cpu, (q, k, v), {}, (out, None)) == expected
    assert overload_flops(other, (q, k, v), {}, (out, None)) == expected


def test_a_roofline_is_the_slower_of_both_limits() -> None:
    roofline = Roofline("x", bandwidth=100.0, flops={"float32": 10.0, "float16": 20.0})
    assert roofline.seconds(200.0, {"float32": 10.0}) == pytest.approx(2.0)
    assert roofline.seconds(200.0, {"float32": 40.0, "float16": 20.0}) == pytest.approx(5.0)
    assert roofline.seconds(200.0, {"int8": 1e9}) == pytest.approx(2.0)
    assert Roofline("x", 0.0).seconds(200.0, {}) == 0.0


def test_a_measured_roofline_is_kept_for_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dl_optools.timing.roofline._COPY_BYTES", 1 << 20)
    monkeypatch.setattr("dl_optools.timing.roofline._LARGEST", 512)
    monkeypatch.setattr("dl_optools.timing.roofline._known", {})
    state = torch.random.get_rng_state()
    first = cached_roofline("cpu", ["float32"])
    assert first.bandwidth > 0 and first.flops["float32"] > 0
    assert cached_roofline("cpu", ["float32"]) is first
    more = cached_roofline("cpu", ["float64"])
    assert more.flops["float32"] == first.flops["float32"] and more.flops["float64"] > 0
    assert torch.equal(torch.random.get_rng_state(), state)


def test_dtypes_without_a_product_have_no_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dl_optools.timing.roofline._COPY_BYTES", 1 << 20)
    assert measure_roofline("cpu", ["bool"]).flops == {"bool": 0.0}

"""Results of a library are validated before this host uses them."""

from __future__ import annotations

import gc
from collections.abc import Callable
from pathlib import Path

import pytest

from diopi_proto import (
    AbiMismatchError,
    DiopiError,
    NotSupportedError,
    OperatorError,
    OutOfMemoryError,
    Vendor,
    VendorError,
    load_vendor,
)
from diopi_proto.trial import try_library
from lies import (
    AT_ALLOCATION,
    AT_INFO,
    AT_LOAD,
    AT_OPERATOR,
    AT_PRESENCE,
    AT_PROPERTIES,
    AT_REQUIRE,
    FLAWS,
    HARMLESS,
    MISLEADING,
)

Compile = Callable[..., Path]
Liar = Callable[[str], Path]


@pytest.fixture
def liar(build: Compile, copied: Callable[[Path], Path], monkeypatch: pytest.MonkeyPatch) -> Liar:
    def build_liar(lie: str) -> Path:
        monkeypatch.setenv("FIXTURE_LIE", lie)
        return copied(build("lies.cpp"))

    return build_liar


@pytest.mark.parametrize(("lie", "message"), AT_LOAD.items())
def test_a_lie_at_the_start_is_an_error(liar: Liar, lie: str, message: str) -> None:
    with pytest.raises(DiopiError) as caught, load_vendor(liar(lie)) as vendor:
        assert vendor.device_count == 1
    assert message in str(caught.value)
    assert isinstance(caught.value, (AbiMismatchError, VendorError))


@pytest.mark.parametrize(("lie", "message"), {**AT_LOAD, **AT_PROPERTIES}.items())
def test_the_trial_detects_a_lie_too(liar: Liar, lie: str, message: str) -> None:
    trial = try_library(liar(lie))
    assert not trial.ok and message in trial.problem


@pytest.mark.parametrize(("lie", "message"), FLAWS.items())
def test_the_trial_reports_a_flaw_and_accepts_the_library(
    liar: Liar, lie: str, message: str
) -> None:
    trial = try_library(liar(lie))
    assert trial.ok, trial.problem
    (flaw,) = trial.flaws
    assert message in flaw


def test_a_good_library_has_no_flaws(liar: Liar, build: Compile) -> None:
    for path in (liar("nothing"), build("vendor.cpp")):
        assert try_library(path).flaws == ()


@pytest.mark.parametrize(("lie", "message"), AT_PROPERTIES.items())
def test_a_lie_about_properties_is_an_error(liar: Liar, lie: str, message: str) -> None:
    with load_vendor(liar(lie)) as vendor, pytest.raises(VendorError) as caught:
        vendor.properties(0)
    assert message in str(caught.value) and "vendor liar" in str(caught.value)


@pytest.mark.parametrize(("lie", "message"), AT_ALLOCATION.items())
def test_a_lie_about_memory_or_an_error_is_an_error(liar: Liar, lie: str, message: str) -> None:
    with load_vendor(liar(lie)) as vendor:
        for _ in range(2):
            with pytest.raises(VendorError) as caught:
                vendor.empty((4,))
            assert message in str(caught.value) and "[memory_allocate]" in str(caught.value)


@pytest.mark.parametrize(("lie", "message"), AT_PRESENCE.items())
def test_a_lie_about_presence_is_an_error(liar: Liar, lie: str, message: str) -> None:
    with load_vendor(liar(lie)) as vendor, pytest.raises(VendorError) as caught:
        _ = vendor.present
    assert message in str(caught.value)
    assert message in try_library(liar(lie)).problem


@pytest.mark.parametrize(("lie", "message"), AT_INFO.items())
def test_a_lie_about_free_memory_is_an_error(liar: Liar, lie: str, message: str) -> None:
    with load_vendor(liar(lie)) as vendor, pytest.raises(VendorError) as caught:
        vendor.memory_info(0)
    assert message in str(caught.value)


@pytest.mark.parametrize(("lie", "message"), AT_OPERATOR.items())
def test_whatever_an_operator_says_of_its_failure_can_be_read(
    liar: Liar, lie: str, message: str
) -> None:
    with load_vendor(liar(lie)) as vendor:
        tensor = vendor.empty((4,))
        with pytest.raises(OperatorError) as caught:
            vendor.op.Relu(tensor, tensor)
    assert message in str(caught.value)


@pytest.mark.parametrize(("lie", "message"), AT_REQUIRE.items())
def test_what_an_operator_asks_wrongly_is_an_error(
    liar: Liar, lie: str, message: tuple[str, ...]
) -> None:
    with load_vendor(liar(lie)) as vendor:
        tensor = vendor.empty((4,))
        with pytest.raises((OperatorError, OutOfMemoryError)) as caught:
            vendor.op.Relu(tensor, tensor)
        assert isinstance(caught.value, OutOfMemoryError) == lie.endswith("_is_huge")
    for part in ("[diopiRelu]", "vendor liar", *message):
        assert part in str(caught.value)


def use(vendor: Vendor) -> None:
    tensor = vendor.tensor([1.0, 2.0])
    assert tensor.numpy().tolist() == [1.0, 2.0]
    del tensor
    gc.collect()


@pytest.mark.parametrize("lie", HARMLESS)
def test_a_harmless_lie_costs_nothing(liar: Liar, lie: str) -> None:
    path = liar(lie)
    trial = try_library(path)
    assert trial.ok, trial.problem
    with load_vendor(path) as vendor:
        use(vendor)
        shown = [vendor.name, vendor.version, *vendor.unknown_operators]
        properties = vendor.properties(0)
        shown += [properties.name, properties.architecture]
    assert all(text.isprintable() or "�" in text for text in shown)
    assert (MISLEADING in shown) == ("mislead" in lie)
    if lie == "name_is_long":
        assert len(vendor.name) == 128 and vendor.name.endswith("n... (3999 bytes)")
    if lie == "properties_have_no_end":
        assert properties.name == "n" * 127 and properties.total_memory == 1024


def test_a_field_that_the_table_does_not_reach_is_missing(liar: Liar) -> None:
    with load_vendor(liar("table_ends_within_a_field")) as vendor:
        with pytest.raises(NotSupportedError):
            vendor.memory_info(0)
        assert not any(vendor.operators.values())

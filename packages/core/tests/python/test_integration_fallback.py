"""Counting and forbidding fallbacks on a real device.

``linalg.eigvalsh`` is an example of an operator that no vendor implements.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import pytest

torch = pytest.importorskip("torch")

pytestmark = pytest.mark.usefixtures("dl_device")


@pytest.fixture
def lacking() -> torch.Tensor:
    if any(name.startswith("_linalg_eigh") for name in torch.dl.native_operators()):
        pytest.fail("the vendor has eigvalsh now: choose an operator that it lacks")
    return torch.ones(3, 3, dtype=torch.float64, device="dl")


@pytest.fixture(autouse=True)
def fresh(dl_device: None) -> Iterator[None]:
    torch.dl.reset_fallback_stats()
    yield
    torch.dl.set_force_fallback([])
    assert torch.dl.fallback_mode() == "allow"


def count(prefix: str) -> int:
    stats = torch.dl.fallback_stats().items()
    return sum(entry["count"] for name, entry in stats if name.startswith(prefix))


def test_fallbacks_are_counted(lacking: torch.Tensor) -> None:
    torch.linalg.eigvalsh(lacking)
    torch.linalg.eigvalsh(lacking)
    assert count("_linalg_eigh") == 2
    torch.dl.reset_fallback_stats()
    assert torch.dl.fallback_stats() == {}


def test_fallbacks_can_be_forbidden_for_a_while(lacking: torch.Tensor) -> None:
    with torch.dl.fallback("error"):
        assert torch.dl.fallback_mode() == "error"
        with pytest.raises(RuntimeError, match="_linalg_eigh"):
            torch.linalg.eigvalsh(lacking)
    torch.linalg.eigvalsh(lacking)


def test_the_mode_is_restored_after_an_error() -> None:
    with pytest.raises(KeyError), torch.dl.fallback("error"):
        raise KeyError
    assert torch.dl.fallback_mode() == "allow"


def test_warnings_name_the_operator(lacking: torch.Tensor) -> None:
    with torch.dl.fallback("warn"), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        torch.linalg.eigvalsh(lacking)
    assert any("_linalg_eigh" in str(w.message) for w in caught)


def test_an_unknown_mode_is_refused() -> None:
    with pytest.raises(ValueError, match=r"'maybe'.*allow, warn, error"):
        torch.dl.set_fallback_mode("maybe")


def test_operators_can_be_forced_to_the_cpu() -> None:
    tensor = torch.ones(3, device="dl")
    if "add.Tensor" not in torch.dl.native_operators():
        pytest.fail("the vendor has no add.Tensor to force")
    tensor + tensor
    assert count("add.Tensor") == 0
    forced = torch.dl.set_force_fallback([r"add\..*"])
    assert "add.Tensor" in forced and not any(name.startswith("mul") for name in forced)
    assert torch.equal((tensor + tensor).cpu(), torch.full((3,), 2.0))
    assert count("add.Tensor") == 1
    torch.dl.set_force_fallback([])
    tensor + tensor
    assert count("add.Tensor") == 1


def test_a_bad_pattern_is_refused() -> None:
    assert torch.dl.set_force_fallback(r"add\..*, mul\..*") != []
    torch.dl.set_force_fallback([])
    with pytest.raises(ValueError, match=r"set_force_fallback"):
        torch.dl.set_force_fallback(["("])


def test_native_operators_are_counted_while_profiled() -> None:
    tensor = torch.ones(3, device="dl")
    torch.dl.reset_native_stats()
    with torch.dl.profile_operators():
        tensor + tensor
    tensor + tensor
    assert torch.dl.native_stats()["add.Tensor"]["count"] == 1

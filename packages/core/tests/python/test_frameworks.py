"""``dl doctor`` says which of the installed frameworks would use the CPU."""

from __future__ import annotations

import pytest

from dl_core import frameworks


@pytest.fixture
def there(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The installed distributions; none at first."""
    names: set[str] = set()
    monkeypatch.setattr(frameworks, "_installed", names.__contains__)
    return names


def test_only_installed_frameworks_are_reported(there: set[str]) -> None:
    assert frameworks.notes() == [frameworks.CUDA]
    there.update({"pytorch-lightning", "safetensors"})
    assert [note.partition(":")[0] for note in frameworks.notes()[:-1]] == [
        "pytorch-lightning",
        "safetensors",
    ]


def test_the_wheel_changes_the_report(there: set[str]) -> None:
    there.add("accelerate")
    (without, _) = frameworks.notes()
    assert "Accelerator() is on the CPU" in without and "pip install dl-integrations" in without
    there.add("dl-integrations")
    (with_it, _) = frameworks.notes()
    assert "Accelerator() is on dl" in with_it and "pip install" not in with_it


def test_a_distribution_is_looked_for_by_its_name() -> None:
    assert frameworks._installed("dl-core") and not frameworks._installed("no-such-distribution")

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


def test_frameworks_that_know_dl_are_not_reported(there: set[str]) -> None:
    there.update({"accelerate", "transformers"})
    accelerate, transformers, _ = frameworks.notes()
    assert "Accelerator() is on the CPU" in accelerate and "bf16=True" in transformers
    assert accelerate.endswith("`pip install dl-integrations` adds dl.")
    there.add("dl-integrations")
    assert frameworks.notes() == [frameworks.CUDA]


def test_a_distribution_is_looked_for_by_its_name() -> None:
    assert frameworks._installed("dl-core") and not frameworks._installed("no-such-distribution")

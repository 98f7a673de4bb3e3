"""The sample depends on the names of tests, and not on the folder of the installation."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from dl_torch_tests.sampling import Sample


def item(name: str, *, folder: str = "", module: str = "dl_torch_tests.device.test_x") -> Any:
    """Return a placeholder for a test that is marked as sampled."""
    return SimpleNamespace(
        name=name,
        nodeid=f"{folder}/test_x.py::{name}",
        module=SimpleNamespace(__name__=module),
        get_closest_marker=lambda mark: SimpleNamespace(args=()) if mark == "sampled" else None,
    )


def chosen(share: str, folder: str, monkeypatch: pytest.MonkeyPatch, **options: str) -> set[int]:
    monkeypatch.setenv("DL_TEST_SAMPLE", share)
    monkeypatch.delenv("DL_TEST_SEED", raising=False)
    sample = Sample()
    return {x for x in range(1000) if sample.takes(item(str(x), folder=folder, **options))}


def test_sample_is_the_same_wherever_the_package_is(monkeypatch: pytest.MonkeyPatch) -> None:
    some = chosen("0.1", "/one", monkeypatch)
    assert 50 < len(some) < 200
    assert some == chosen("0.1", "/two", monkeypatch)
    assert some < chosen("0.3", "/one", monkeypatch)
    assert chosen("0", "/one", monkeypatch) == set()
    assert len(chosen("1", "/one", monkeypatch)) == 1000


def test_sample_of_other_tests_depends_on_their_path(monkeypatch: pytest.MonkeyPatch) -> None:
    one, two = (chosen("0.1", x, monkeypatch, module="core.test_x") for x in ("/one", "/two"))
    assert one != two


@pytest.mark.parametrize("share", ["-0.1", "2"])
def test_share_outside_of_its_range_is_refused(share: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DL_TEST_SAMPLE", share)
    with pytest.raises(pytest.UsageError, match="not between 0 and 1"):
        Sample()

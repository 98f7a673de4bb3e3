"""Collectives between cards: a fake RCCL, which checks what it is given, on the fake driver."""

from __future__ import annotations

from pathlib import Path

import pytest
from extension_tests import communicators
from extension_tests.communicators import *  # noqa: F403 - pytest collects them here
from extension_tests.played import Played

from conftest import long
from processes import compile_library, doctor

test_torch_uses_it = long(communicators.test_torch_uses_it)
test_failures_of_nccl_are_told = long(communicators.test_failures_of_nccl_are_told)


@pytest.fixture(scope="module")
def fake_rccl(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The path of a librccl.so.1 that exchanges through files."""
    return str(compile_library("rccl", tmp_path_factory.mktemp("rccl")))


@pytest.fixture
def communicating(played: Played, fake_rccl: str, tmp_path: Path) -> Played:
    return played.with_cards(3).having(DL_ROCM_RCCL=fake_rccl, FAKE_NCCL_FOLDER=str(tmp_path))


def test_without_rccl_there_is_no_communicator(played: Played) -> None:
    found = doctor(**played.having(DL_ROCM_RCCL="off").variables)
    assert "communicator" not in found["extensions"]
    assert found["libraries"]["RCCL"] == "off (DL_ROCM_RCCL)"


def test_the_doctor_shows_it(communicating: Played) -> None:
    found = doctor(**communicating.variables)
    assert "communicator" in found["extensions"]
    assert found["libraries"]["RCCL"] == communicating.variables["DL_ROCM_RCCL"]

"""Collectives between cards: a fake NCCL, which checks what it is given, on a simulator."""

from __future__ import annotations

from pathlib import Path

import pytest
from extension_tests.communicators import *  # noqa: F403 - pytest collects them here
from extension_tests.played import Played

from processes import compile_library, doctor


@pytest.fixture(scope="module")
def fake_nccl(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The path of a libnccl.so.2 that exchanges through files."""
    return str(compile_library("nccl", tmp_path_factory.mktemp("nccl")))


@pytest.fixture
def communicating(played: Played, fake_nccl: str, tmp_path: Path) -> Played:
    return played.with_cards(3).having(DL_CUDA_NCCL=fake_nccl, FAKE_NCCL_FOLDER=str(tmp_path))


def test_without_nccl_there_is_no_communicator(simulator: str) -> None:
    found = doctor(DL_CUDA_DRIVER=simulator, DL_CUDA_NCCL="off")
    assert "communicator" not in found["extensions"]

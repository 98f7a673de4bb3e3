from pathlib import Path

import pytest

import dl_core
from dl_core import installed
from dl_core.installed import TorchBuild, mismatch, torch_gpu

CPU = TorchBuild("2.13.0+cpu", None, None)
CUDA = TorchBuild("2.13.0+cu126", "12.6", None)
ROCM = TorchBuild("2.13.0+rocm7", None, "7.0")


@pytest.fixture
def dev(tmp_path: Path) -> Path:
    for name in ("nvidia0", "nvidiactl", "kfd", "null"):
        (tmp_path / name).touch()
    return tmp_path


def test_a_build_of_the_same_release_fits() -> None:
    assert mismatch("2.13.0+cpu", "2.13.0+cu126") is None
    assert mismatch("2.13.0", "2.13.0+cpu") is None


def test_another_release_does_not_fit_and_both_are_named() -> None:
    said = mismatch("2.14.0+cpu", "2.13.0+cpu")
    assert said is not None
    wheel = f"pip install dl-core=={dl_core.__version__}+torch2.14.0"
    for part in ("2.14.0+cpu", "2.13.0+cpu", wheel, "pip install torch==2.13.0"):
        assert part in said


def test_a_patch_release_does_not_fit() -> None:
    assert mismatch("2.13.1", "2.13.0") is not None


def test_a_cpu_build_has_no_gpu_of_its_own(dev: Path) -> None:
    assert torch_gpu(CPU, {}, dev) is None


def test_a_cuda_build_has_one_where_there_is_a_device_file(dev: Path, tmp_path: Path) -> None:
    assert "nvidia0" in (torch_gpu(CUDA, {}, dev) or "")
    assert torch_gpu(CUDA, {}, tmp_path / "empty") is None


def test_the_control_file_alone_is_no_gpu(tmp_path: Path) -> None:
    (tmp_path / "nvidiactl").touch()
    assert torch_gpu(CUDA, {}, tmp_path) is None


def test_a_rocm_build_looks_for_its_own_file(dev: Path) -> None:
    assert "kfd" in (torch_gpu(ROCM, {}, dev) or "")


@pytest.mark.parametrize("hidden", ["", "-1"])
def test_hidden_gpus_do_not_count(dev: Path, hidden: str) -> None:
    assert torch_gpu(CUDA, {"CUDA_VISIBLE_DEVICES": hidden}, dev) is None
    assert torch_gpu(CUDA, {"CUDA_VISIBLE_DEVICES": "0"}, dev) is not None


def test_torch_is_read_without_importing_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "torch"
    package.mkdir()
    (package / "__init__.py").write_text("raise AssertionError('imported')")
    (package / "version.py").write_text(
        "from typing import Optional\n__version__ = '2.99.1+cu130'\n"
        "cuda: Optional[str] = '13.0'\nhip: Optional[str] = None\n"
    )
    monkeypatch.delitem(__import__("sys").modules, "torch", raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    assert installed.torch_build() == TorchBuild("2.99.1+cu130", "13.0", None)

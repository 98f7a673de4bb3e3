"""Tests of the discovery of nvcc, and of lists of architectures."""

from __future__ import annotations

from pathlib import Path

import pytest

from dl_kernels import nvcc as module
from dl_kernels.nvcc import ALL, NvccError, Toolkit, architectures, find_nvcc, nvcc

SAYS = "Cuda compilation tools, release 13.2, V13.2.51"


def compiler(path: Path, says: str = SAYS) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\necho '{says}'\n", encoding="utf-8")
    path.chmod(0o755)
    return path


def names(wanted: str) -> list[str]:
    return [one.name for one in architectures(wanted)]


def test_architectures_are_machine_code_or_ptx() -> None:
    assert names("80") == ["sm_80"]
    assert names("ptx90, sm_90,75") == ["sm_75", "sm_90", "compute_90"]
    assert names("compute_75,ptx75") == ["compute_75"]
    assert names("all") == names(ALL) and names("all")[-1] == "compute_120"
    assert architectures("ptx75")[0].flag == "-gencode=arch=compute_75,code=compute_75"


@pytest.mark.parametrize("wanted", ["", "80,", "volta", "ptx", "8.0", "sm80x"])
def test_invalid_architectures_are_rejected(wanted: str) -> None:
    with pytest.raises(ValueError, match="write 80 for machine code"):
        architectures(wanted)


def test_the_compiler_of_the_variable_has_precedence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_wheel_folders", lambda: [tmp_path / "wheels"])
    on_path = compiler(tmp_path / "path" / "nvcc", "release 12.8, V12.8.1")
    environ = {"PATH": str(on_path.parent)}
    assert find_nvcc(environ) == Toolkit((str(on_path),), 12080)
    of_wheels = compiler(tmp_path / "wheels" / "bin" / "nvcc")
    assert find_nvcc(environ) == Toolkit((str(of_wheels),), 13020)
    of_home = compiler(tmp_path / "home" / "bin" / "nvcc")
    environ["CUDA_HOME"] = str(tmp_path / "home")
    assert find_nvcc(environ).command == (str(of_home),)
    environ["NVCC"] = f"env {on_path}"
    assert find_nvcc(environ).command == ("env", str(on_path))


def test_a_missing_compiler_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_wheel_folders", list)
    with pytest.raises(NvccError, match="pip install nvidia-cuda-nvcc nvidia-cuda-runtime"):
        find_nvcc({"PATH": str(tmp_path)})
    with pytest.raises(NvccError, match="cannot be run"):
        find_nvcc({"NVCC": str(tmp_path / "nvcc")})
    silent = compiler(tmp_path / "nvcc", "hello")
    with pytest.raises(NvccError, match="prints no version"):
        find_nvcc({"NVCC": str(silent)})


def test_the_command_has_the_architectures() -> None:
    code = architectures("80,ptx90")
    command = nvcc(Toolkit(("nvcc",), 13000), code, compress=False).compile_command()
    assert command[0] == "nvcc" and "--compress-mode=none" in command
    assert "-gencode=arch=compute_80,code=sm_80" in command
    assert "-gencode=arch=compute_90,code=compute_90" in command
    assert "--compress-mode=none" not in nvcc(Toolkit(("nvcc",), 13000), code).flags


def test_shared_parts_have_further_code() -> None:
    code, shared = architectures("ptx75"), architectures("ptx75,ptx80")
    compiler = nvcc(Toolkit(("nvcc",), 13000), code, shared_code=shared)
    of_family = compiler.compile_command("family_add.cu")
    of_part = compiler.compile_command("part_gemm.cu")
    assert [x for x in of_part if x not in of_family] == [
        "-gencode=arch=compute_80,code=compute_80"
    ]
    assert of_part.count("-gencode=arch=compute_75,code=compute_75") == 1

"""Tests of the discovery of libraries of other wheels, and of unusable ones."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from dl_vendor_cpu.plugin import dl_vendor

# Multiplies 64x64 matrices of ones with the vendor of argv[1], twice, and prints the libraries that
# the process has mapped.
CHILD = """
import sys
import numpy as np
from diopi_proto import load_vendor

with load_vendor(sys.argv[1]) as vendor:
    ones = vendor.tensor(np.ones((64, 64), np.float32))
    for _ in range(2):
        out = vendor.empty((64, 64), "float32")
        vendor.op.Mm(out, ones, ones)
        assert (out.numpy() == 64).all()
    print(open("/proc/self/maps").read())
"""


def multiply(
    library: Path, folder: Path | None = None, **variables: str
) -> subprocess.CompletedProcess[str]:
    env = {k: v for k, v in os.environ.items() if not k.startswith("DL_CPU_")}
    done = subprocess.run(
        [sys.executable, "-c", CHILD, str(library)],
        env={**env, **variables},
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done


def mapped(library: Path, folder: Path | None = None, **variables: str) -> str:
    return multiply(library, folder, **variables).stdout


@pytest.fixture
def environment(tmp_path: Path) -> Path:
    """A prefix with our library where pip installs it, and another file in the place of oneDNN."""
    site = tmp_path / "lib" / "python3.11" / "site-packages" / "dl_vendor_cpu" / "lib"
    site.mkdir(parents=True)
    shutil.copy(dl_vendor().library, site / "vendor.so")
    shutil.copy(dl_vendor().library, tmp_path / "lib" / "libdnnl.so.3")
    return tmp_path


def vendor_in(environment: Path) -> Path:
    return next(environment.rglob("vendor.so"))


def test_library_of_the_environment_is_opened_and_declined_if_unfit(environment: Path) -> None:
    assert f"{environment}/lib/libdnnl.so.3" in mapped(vendor_in(environment))


def test_library_is_left_alone_on_request(environment: Path) -> None:
    assert "libdnnl" not in mapped(vendor_in(environment), DL_CPU_ONEDNN="off")


def test_library_can_be_named(environment: Path) -> None:
    named = environment / "named.so"
    (environment / "lib" / "libdnnl.so.3").rename(named)
    assert str(named) in mapped(vendor_in(environment), DL_CPU_ONEDNN=str(named))


def test_openblas_is_found_in_its_package(environment: Path) -> None:
    package = environment / "lib" / "python3.11" / "site-packages" / "scipy_openblas32" / "lib"
    package.mkdir(parents=True)
    (environment / "lib" / "libdnnl.so.3").rename(package / "libscipy_openblas.so")
    found = mapped(vendor_in(environment), DL_CPU_ONEDNN="off")
    assert f"{package}/libscipy_openblas.so" in found


def test_a_shared_folder_above_a_target_installation_is_not_searched(tmp_path: Path) -> None:
    """With `pip install --target DIR/t`, files in DIR and above may belong to anyone."""
    shared = tmp_path / "shared"
    lib = shared / "t" / "dl_vendor_cpu" / "lib"
    lib.mkdir(parents=True)
    shutil.copy(dl_vendor().library, lib / "vendor.so")
    for folder in (tmp_path, shared, shared / "t", lib.parent, lib):
        shutil.copy(dl_vendor().library, folder / "libdnnl.so.3")
        (folder / "lib").mkdir(exist_ok=True)
        shutil.copy(dl_vendor().library, folder / "lib" / "libdnnl.so.3")
    assert "libdnnl" not in mapped(lib / "vendor.so")


@pytest.mark.parametrize("mode", [0o777, 0o757])
def test_a_library_that_others_could_have_put_there_is_left_alone(
    environment: Path, mode: int
) -> None:
    (environment / "lib" / "libdnnl.so.3").chmod(mode)
    assert "libdnnl" not in mapped(vendor_in(environment))


def test_nothing_is_loaded_from_the_current_folder(environment: Path) -> None:
    planted = environment / "planted"
    planted.mkdir()
    shutil.move(environment / "lib" / "libdnnl.so.3", planted)
    shutil.copy(dl_vendor().library, planted / "libscipy_openblas.so")
    vendor = vendor_in(environment)
    for path in ("", ".", ":/usr/lib", "../planted"):
        assert str(planted) not in mapped(vendor, planted, LD_LIBRARY_PATH=path)
    # The same folder is accepted if the user names it.
    assert str(planted) in mapped(vendor, planted, LD_LIBRARY_PATH=str(planted))


def test_a_pipe_is_not_waited_for(environment: Path) -> None:
    os.mkfifo(environment / "pipe.so")
    done = multiply(vendor_in(environment), DL_CPU_ONEDNN=str(environment / "pipe.so"))
    assert "is not a readable file" in done.stderr


def test_a_named_library_that_others_can_write_is_not_loaded(environment: Path) -> None:
    named = environment / "lib" / "libdnnl.so.3"
    named.chmod(0o777)
    done = multiply(vendor_in(environment), DL_CPU_ONEDNN=str(named))
    assert "libdnnl" not in done.stdout
    assert "is in a folder that others can write to" in done.stderr


@pytest.mark.parametrize(
    "value", ["libdnnl.so.3", "./libdnnl.so.3", "/nonexistent/x", "\x1b[31m", "/usr", "/dev/zero"]
)
def test_a_named_library_that_does_not_load_is_reported_and_not_searched_for(
    environment: Path, value: str
) -> None:
    done = multiply(vendor_in(environment), environment / "lib", DL_CPU_ONEDNN=value)
    assert "libdnnl" not in done.stdout
    assert "DL_CPU_ONEDNN" in done.stderr and "own kernels" in done.stderr

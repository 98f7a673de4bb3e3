"""Tests of the cache of compiled kernels on disk."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from processes import Vendor

ADD = """
x, y = vendor.tensor(np.arange(5, dtype="float32")), vendor.empty((5,), "float32")
vendor.op.Add(y, x, x, 1)
assert (y.numpy() == 2 * np.arange(5)).all()
"""


def stored(vendor: Vendor) -> list[Path]:
    """Return the files of the vendor's cache."""
    return sorted(Path(vendor.variables["DL_OPENCL_CACHE"]).glob("*"))


def test_a_kernel_is_stored_once_for_its_user_alone(uncached: Vendor) -> None:
    uncached.run_on_vendor(ADD)
    (file,) = stored(uncached)
    assert file.stat().st_mode & 0o777 == 0o600
    assert file.parent.stat().st_mode & 0o777 == 0o700
    before = file.read_bytes()
    uncached.run_on_vendor(ADD)
    assert stored(uncached) == [file] and file.read_bytes() == before


@pytest.mark.parametrize("damage", ["empty", "cut", "changed", "longer", "of another kernel"])
def test_a_damaged_file_is_replaced(uncached: Vendor, damage: str) -> None:
    uncached.run_on_vendor(ADD)
    (file,) = stored(uncached)
    whole = file.read_bytes()
    middle = len(whole) // 2
    changed = whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :]
    other = whole[:8] + bytes([whole[8] ^ 1]) + whole[9:]
    contents = {"empty": b"", "cut": whole[:middle], "changed": changed, "longer": whole + b"x"}
    file.write_bytes(contents.get(damage, other))
    uncached.run_on_vendor(ADD)
    assert stored(uncached) == [file] and len(file.read_bytes()) == len(whole)


def test_a_program_that_the_driver_refuses_is_replaced(uncached: Vendor) -> None:
    """The file is intact, but its driver has changed without another version."""
    uncached.run_on_vendor(ADD)
    (file,) = stored(uncached)
    whole = file.read_bytes()
    header, program = whole[:40], b"no program of any driver"
    checksum = 0xCBF29CE484222325
    for byte in program:
        checksum = (checksum ^ byte) * 0x100000001B3 % (1 << 64)
    sizes = len(program).to_bytes(8, "little") + checksum.to_bytes(8, "little")
    file.write_bytes(header[:24] + sizes + program)
    uncached.run_on_vendor(ADD)
    assert len(file.read_bytes()) == len(whole)


def test_processes_share_the_cache(uncached: Vendor) -> None:
    with ThreadPoolExecutor(3) as pool:
        list(pool.map(lambda _: uncached.run_on_vendor(ADD), range(3)))
    (file,) = stored(uncached)
    uncached.run_on_vendor(ADD)
    assert stored(uncached) == [file]


def test_the_least_recently_used_files_leave_a_full_cache(uncached: Vendor) -> None:
    folder = Path(uncached.variables["DL_OPENCL_CACHE"])
    folder.mkdir(mode=0o700)
    for place in range(4):
        file = folder / f"{place:032x}.clbin"
        file.write_bytes(bytes(400_000))
        os.utime(file, (1000 + place, 1000 + place))
    uncached.run_on_vendor(ADD, DL_OPENCL_CACHE_MIB="1")
    left = [file.name for file in stored(uncached) if file.stat().st_size == 400_000]
    assert left == [f"{3:032x}.clbin"]
    assert sum(file.stat().st_size for file in stored(uncached)) < 1 << 20


def test_a_folder_of_other_users_is_not_used(uncached: Vendor) -> None:
    folder = Path(uncached.variables["DL_OPENCL_CACHE"])
    folder.mkdir()
    folder.chmod(0o777)
    uncached.run_on_vendor(ADD)
    assert stored(uncached) == []


def test_a_link_in_place_of_a_file_is_not_followed(uncached: Vendor, tmp_path: Path) -> None:
    uncached.run_on_vendor(ADD)
    (file,) = stored(uncached)
    other = tmp_path / "other"
    other.write_bytes(b"not a program")
    file.unlink()
    file.symlink_to(other)
    uncached.run_on_vendor(ADD)
    assert other.read_bytes() == b"not a program"
    assert not file.is_symlink()


def test_off_disables_the_cache(uncached: Vendor, tmp_path: Path) -> None:
    uncached.run_on_vendor(ADD, DL_OPENCL_CACHE="off", XDG_CACHE_HOME=str(tmp_path / "home"))
    # Drivers may have a cache of their own there.
    assert not (tmp_path / "home" / "dl").exists()


def test_the_default_folder_is_the_users(uncached: Vendor, tmp_path: Path) -> None:
    uncached.run_on_vendor(ADD, DL_OPENCL_CACHE="", XDG_CACHE_HOME=str(tmp_path / "home"))
    assert list((tmp_path / "home" / "dl" / "opencl").glob("*.clbin"))

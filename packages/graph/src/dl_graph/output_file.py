"""Writer of ``.npz`` files with a graph's outputs."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from diopi_proto.atomic_file import replace_atomically
from diopi_proto.dtypes import Array, bfloat16_to_float32


def check_output(path: Path, force: bool) -> None:
    """Check before a run that the output file may be written.

    :raises ValueError: the path does not end in ``.npz``, or exists and may not be replaced.
    """
    if path.suffix != ".npz":
        raise ValueError(f"{path} has to end in .npz")
    if path.is_symlink() or (path.exists() and not path.is_file()):
        raise ValueError(f"{path} is not a regular file; name another file")
    if path.exists() and not force:
        raise ValueError(f"{path} exists; --force replaces it")


def readable(array: Array, dtype: str) -> Array:
    """Return bfloat16, which numpy does not support, as float32; other dtypes unchanged."""
    return bfloat16_to_float32(array) if dtype == "bfloat16" else array


def write_outputs(path: Path, outputs: Mapping[str, Array]) -> None:
    """Write an ``.npz`` file; readers see the old file or the new one, never a partial one.

    :raises OSError: the file cannot be written; the old one stays.
    """
    with (
        replace_atomically(path) as temporary,
        zipfile.ZipFile(temporary, "w", zipfile.ZIP_STORED) as archive,
    ):
        for name, array in outputs.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.asanyarray(array), allow_pickle=False)

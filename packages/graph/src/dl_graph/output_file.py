"""Files of a graph's outputs."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from diopi_proto.atomic_file import replace_atomically
from diopi_proto.dtypes import Array, bfloat16_to_float32


def check_output(path: Path, force: bool) -> None:
    """Make sure that a file of outputs may be written; best done before the run.

    :raises ValueError: it has another ending than ``.npz``, or is there and may not be replaced.
    """
    if path.suffix != ".npz":
        raise ValueError(f"{path} has to end in .npz")
    if path.is_symlink() or (path.exists() and not path.is_file()):
        raise ValueError(f"{path} is no plain file; name another one")
    if path.exists() and not force:
        raise ValueError(f"{path} exists; --force replaces it")


def readable(array: Array, dtype: str) -> Array:
    """Of bfloat16, which numpy does not know, the numbers as float32; all else as it is."""
    return bfloat16_to_float32(array) if dtype == "bfloat16" else array


def write_outputs(path: Path, outputs: Mapping[str, Array]) -> None:
    """Write an ``.npz`` file, so that readers see the old one or the new one as a whole.

    :raises OSError: it cannot be written; the old one is there still.
    """
    with (
        replace_atomically(path) as temporary,
        zipfile.ZipFile(temporary, "w", zipfile.ZIP_STORED) as archive,
    ):
        for name, array in outputs.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.asanyarray(array), allow_pickle=False)

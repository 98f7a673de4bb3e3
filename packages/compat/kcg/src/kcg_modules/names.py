"""Names of kernels, which encode configurations: ``kcg_MM_bM1024N1024K1024isAT1W64_BM32...``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from dl_autotune.spaces.deepgen import KEYS, broken_rules

from .errors import KcgError

Config = Mapping[str, Any]
_LABELS = {
    "M": "M_SIZE", "N": "N_SIZE", "K": "K_SIZE", "isAT": "IS_ATRANS", "W": "WARP_SIZE",
    "_BM": "BLOCK_SIZE_M", "BN": "BLOCK_SIZE_N", "BK": "BLOCK_SIZE_K",
    "TM": "THREAD_SIZE_M", "TN": "THREAD_SIZE_N",
    "BLY": "BLOCK_LAYOUT_Y", "BLX": "BLOCK_LAYOUT_X",
    "WLY": "WARP_LAYOUT_Y", "WLX": "WARP_LAYOUT_X",
    "GLWA": "GLOB_LOAD_WIDTH_A", "GLWB": "GLOB_LOAD_WIDTH_B",
    "BSWM": "BLOCK_SCATTER_WIDTH_M", "BSWN": "BLOCK_SCATTER_WIDTH_N",
    "WSWM": "WARP_SCATTER_WIDTH_M", "WSWN": "WARP_SCATTER_WIDTH_N",
    "LSU": "LOCAL_SPLIT_U", "Map": "BLOCK_MAPPING", "GSW": "GLOB_STORE_WIDTH",
    "UN": "UNROLL_NUM", "RP": "REG_PREFETCH", "SP": "SHARED_PREFETCH",
    "LC": "LOAD_CONTINUOUS", "RC": "STORE_CONTINUOUS",
}  # fmt: skip
"""Labels in the order of the name, after the batch, which is empty for a batch of 1."""
_PATTERN = re.compile(r"kcg_MM_b(\d*)" + "".join(f"{label}(\\d+)" for label in _LABELS))


def name_of(config: Config) -> str:
    """Return the name of a configuration's kernel."""
    batch = config["BATCH_SIZE"]
    values = "".join(f"{label}{config[key]}" for label, key in _LABELS.items())
    return f"kcg_MM_b{'' if batch == 1 else batch}{values}"


def config_of(name: str) -> dict[str, int]:
    """Return the configuration that a name encodes.

    :raises KcgError: the name or the configuration is invalid.
    """
    found = _PATTERN.fullmatch(name)
    if found is None:
        raise KcgError(
            f"[kcg] {name!r} is not a kernel's name: it has to be kcg_MM_b[batch] and then, each"
            f" with a number, {' '.join(_LABELS)}"
        )
    batch, *values = found.groups()
    config = {"BATCH_SIZE": int(batch or 1)}
    config |= zip(_LABELS.values(), map(int, values), strict=True)
    config |= {f"DATATYPE_{matrix}": 4 for matrix in "ABC"}
    zero = [key for key in _POSITIVE if config[key] == 0]
    if zero:
        raise KcgError(f"[kcg] {name}: {', '.join(zero)} cannot be 0")
    if broken := broken_rules(config):
        raise KcgError(f"[kcg] {name} breaks a rule: {'; '.join(broken)}")
    return {key: config[key] for key in KEYS}


_POSITIVE = [key for key in KEYS if key.endswith(("SIZE", "_M", "_N", "_K", "_Y", "_X", "_U"))] + [
    "GLOB_LOAD_WIDTH_A",
    "GLOB_LOAD_WIDTH_B",
]

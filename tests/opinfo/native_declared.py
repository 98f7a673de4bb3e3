"""Plain samples that dl-core leaves to the CPU, for the table ``DECLARED`` in native.py."""

from __future__ import annotations

DECLARED = {
    "_cdist_backward": (
        r"\(float32\[(2, 1, 1, 2\], float32\[1, 2, 2|1, 1, 2\], float32\[2, 1, 2, 2)\]",
        "points broadcast over batches, whose gradients have to be summed",
    ),
    "addr": (r".*alpha=0\.0", "infinity times 0: NaN here, while matrix products ignore it"),
    "gather": (r"\(float32\[\]", "no dimensions: nothing to gain"),
    "index_select": (r"\(float32\[\]", "no dimensions: nothing to gain"),
    "masked_select": (r"\(float32(\[.*?\]), bool(?!\1)", "the contract does not broadcast"),
    "max_pool2d_with_indices": (r"\(float32\[\d+, \d+, \d+\]", "the contract wants a batch"),
    "max_pool2d_with_indices_backward": (
        r"\(float32\[\d+, \d+, \d+\]",
        "the contract wants a batch",
    ),
    "roll": (r"\(float32\[\]", "no dimensions: nothing to gain"),
}

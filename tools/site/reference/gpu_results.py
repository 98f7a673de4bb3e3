"""The page of kernel times on a GPU, from the JSON file of the benchmark."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tools.site.table import ROOT

ADDRESS = "reference/gpu-kernel-times.md"
MEASUREMENTS = ROOT / "packages" / "vendor-cuda" / "docs" / "h200.json"


class GpuResults:
    """One page with all measurements."""

    def nav(self) -> list[Any]:
        """Return the page."""
        return [ADDRESS]

    def pages(self) -> Iterator[tuple[str, str]]:
        """Yield the page."""
        yield ADDRESS, results_page(json.loads(MEASUREMENTS.read_text("utf-8")))


def results_page(measured: dict[str, Any]) -> str:
    """Return the page of a report of ``benchmarks/gpu.py``."""
    families = [
        f"| [{family}](operators/{family}.md) | {ratio:.2f} |"
        for family, ratio in sorted(measured["by_family"].items(), key=lambda item: item[1])
    ]
    rows = [
        f"| `{x['operator']}` | {x['dtype']} | {x['size']} | {x['dl_us']:g} | {x['peer_us']:g} "
        f"| {x['ratio']:.2f} |"
        for x in measured["rows"]
    ]
    blocks = [
        "# Kernel times on a GPU",
        f"Device: {measured['device']}. Peer: {measured['peer']}. "
        f"Command: `{measured['command']}`.",
        "A ratio is our time divided by the peer's; below 1, dl is faster. Ratios of families are "
        f"geometric means, and that of all {len(rows)} measurements is "
        f"{measured['geometric_mean']:.2f}.",
        "## Families",
        "\n".join(["| family | ratio |", "| --- | ---: |", *families]),
        "## Operators",
        "\n".join(
            [
                "| operator | dtype | size | dl, µs | peer, µs | ratio |",
                "| --- | --- | --- | ---: | ---: | ---: |",
                *rows,
            ]
        ),
    ]
    return "\n\n".join(blocks) + "\n"

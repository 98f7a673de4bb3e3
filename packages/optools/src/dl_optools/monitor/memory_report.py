"""HTML page of memory over time."""

from __future__ import annotations

from collections.abc import Sequence

from dl_optools.monitor.samples import Sample
from dl_report import charts, page
from dl_report.charts import Line


def report(samples: Sequence[Sample], pid: int) -> str:
    """Return a page with the memory of host and device over time."""
    host = [(x.seconds, x.host_rss) for x in samples]
    used = [y for x in samples if (y := _device(x)) is not None]
    most = [(f"{max((y for _, y in host), default=0):,.0f} MiB", "peak host memory")]
    if used:
        most.append((f"{max(used):,.0f} MiB", "peak device memory"))
    sections = [
        page.heading(f"Memory of process {pid}", [f"{len(samples)} samples"]),
        page.tiles(most),
        page.section(
            "Host",
            "Resident memory.",
            charts.over_time([Line(host, "host", "first")], ("seconds", "MiB")),
        ),
    ]
    if used:
        own = [(x.seconds, y) for x in samples if (y := x.device_allocated) is not None]
        kept = [(x.seconds, y) for x in samples if (y := x.device_reserved) is not None]
        every = [(x.seconds, y) for x in samples if (y := x.device_used) is not None]
        lines = [Line(own, "in tensors", "first"), Line(kept, "reserved", "second")]
        words = [("forward", "in tensors of the process"), ("backward", "reserved by it")]
        if not own:
            lines, words = [Line(every, "in use", "first")], [("forward", "of all processes")]
        sections.append(
            page.section(
                samples[0].device,
                "Device memory.",
                page.key(words),
                charts.over_time(lines, ("seconds", "MiB")),
            )
        )
    return page.render_page(f"Memory of process {pid}", sections)


def _device(sample: Sample) -> float | None:
    if sample.device_reserved is not None:
        return sample.device_reserved
    return sample.device_used

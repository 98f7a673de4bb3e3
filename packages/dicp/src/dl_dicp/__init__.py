"""A graph compiler for the dl device: ``torch.compile(model, backend="dl")``.

Importing this package does not import torch; running the backend does.
"""

from __future__ import annotations

from dl_dicp._version import __version__
from dl_dicp.statistics import Statistics, statistics

__all__ = ["Statistics", "__version__", "statistics"]

"""Reference pages that are generated from their sources when the site is built."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Protocol

from tools.site.reference.benchmarks import Benchmarks, recorded_pages
from tools.site.reference.c_headers import CHeaders
from tools.site.reference.commands import Commands
from tools.site.reference.gpu_results import GpuResults
from tools.site.reference.operators import Operators
from tools.site.reference.plugin_hooks import PluginHooks
from tools.site.reference.python_api import PythonApi
from tools.site.reference.variables import Variables


class Generator(Protocol):
    """Generator of the pages of one subject."""

    def nav(self) -> list[Any]:
        """Return the entries of the navigation, as in mkdocs' ``nav``."""

    def pages(self) -> Iterator[tuple[str, str]]:
        """Yield the address and the Markdown text of each page."""


GENERATORS: Mapping[str, Generator] = {
    "commands": Commands(),
    "environment-variables": Variables(),
    "operators": Operators(),
    "hooks": PluginHooks(),
    "c-headers": CHeaders(),
    "python-api": PythonApi(),
    "gpu-results": GpuResults(),
    "benchmarks": Benchmarks(),
}

REPLACED = {
    "packages/diopi-proto/docs/operators.md": "reference/operators/index.md",
    "packages/vendor-cuda/docs/h200.json": "reference/gpu-kernel-times.md",
    **recorded_pages(),
}
"""Addresses of generated pages that replace files of the repository."""

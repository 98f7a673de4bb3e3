"""Wrappers of framework functions that have a fixed list of devices and no extension point.

Each module wraps one function and states the upstream function, the versions with which it was
tested, and the digest of the upstream source; ``tests/test_wrappers.py`` fails when that source
changes. They are installed when a program imports the framework, if a dl device is present.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module

from dl_integrations.wrappers.wrapper import Wrapper

MODULES = (
    "accelerate_float16",
    "accelerate_memory",
    "accelerate_processes",
    "lightning_auto",
    "lightning_gpu",
    "lightning_processes",
    "lightning_strategy",
    "mmengine_device",
    "safetensors_open",
    "sentence_transformers_device",
    "transformers_bf16",
    "transformers_pipeline",
)


def all_wrappers() -> Iterator[Wrapper]:
    """Yield all wrappers; their modules import no framework."""
    for name in MODULES:
        yield from import_module(f"dl_integrations.wrappers.{name}").WRAPPERS

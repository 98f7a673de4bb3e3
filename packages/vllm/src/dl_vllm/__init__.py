"""The dl device in vLLM, through vLLM's entry point for platforms.

vLLM calls :func:`register` when it looks for its platform. This module imports neither torch nor
vLLM.
"""

from __future__ import annotations

__version__ = "0.1.0"


def register() -> str | None:
    """Return the class of the platform, or None if this process has no dl device.

    Without a dl device vLLM uses its own platform.
    """
    import torch

    device = getattr(torch, "dl", None)
    if device is None or not device.is_available():
        return None
    return "dl_vllm.platform.DlPlatform"

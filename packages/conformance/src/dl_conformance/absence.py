"""Whether there is a device at all, and why not: asked before a case runs."""

from __future__ import annotations

import logging

from diopi_proto import Vendor

LOGGER = "diopi_proto.vendor"
"""Where diopi_proto puts what a library logs: the reason is among it."""


class _Said(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())


def absence(vendor: Vendor) -> str | None:
    """Why there is no device, as far as the library says; None where there is one."""
    logger, said = logging.getLogger(LOGGER), _Said()
    level = logger.level
    logger.addHandler(said)
    logger.setLevel(logging.INFO)
    try:
        count = vendor.device_count
    finally:
        logger.removeHandler(said)
        logger.setLevel(level)
    if count > 0:
        return None
    # A library may be asked twice, and say it twice.
    return "; ".join(dict.fromkeys(said.lines)) or "the library does not say why"

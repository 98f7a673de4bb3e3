"""Check that a vendor has a device, or report why not, before any case runs."""

from __future__ import annotations

import logging

from diopi_proto import Vendor

LOGGER = "diopi_proto.vendor"
"""Logger to which diopi_proto forwards the messages of a library; they contain the reason."""


class _CollectingHandler(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())


def absence(vendor: Vendor) -> str | None:
    """Return the library's reason for having no device, or None if there is a device."""
    logger, handler = logging.getLogger(LOGGER), _CollectingHandler()
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        count = vendor.device_count
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
    if count > 0:
        return None
    # A library that is queried twice may log the same reason twice.
    return "; ".join(dict.fromkeys(handler.lines)) or "the library does not say why"

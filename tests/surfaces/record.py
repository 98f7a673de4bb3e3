"""Writes packages/core/docs/surfaces.md: ``python -m surfaces.record`` in tests/."""

from __future__ import annotations

from .table import PAGE, page

if __name__ == "__main__":
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(page(), encoding="utf-8")

"""Report of a study as a page for the browser."""

from __future__ import annotations

from .page import study_page

__all__ = ["study_page"]

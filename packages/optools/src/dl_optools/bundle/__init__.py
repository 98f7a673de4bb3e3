"""One captured call of an operator as files; docs/bundle.md has the format."""

from __future__ import annotations

from dl_optools.bundle.errors import BundleError, NotStorableError
from dl_optools.bundle.reader import Bundle, find, read

__all__ = ["Bundle", "BundleError", "NotStorableError", "find", "read"]

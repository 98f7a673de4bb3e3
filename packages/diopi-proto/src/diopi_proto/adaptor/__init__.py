"""What a vendor's ``adaptor.yaml`` says, and what becomes of it; docs/adaptor.md is for its author.

Reading a file loads neither cffi nor numpy, so that ``dl doctor`` can check one. All hosts follow
it by the same C++ (``dl/adaptor.h``), between their calls and the vendor's operators.
"""

from __future__ import annotations

from .file import read_adaptor
from .rules import AdaptorFile, Rule

__all__ = ["AdaptorFile", "Rule", "read_adaptor"]

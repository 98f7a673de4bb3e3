"""Operators of libraries in DIOPI's own style on the devices of another library, their runtime.

Such a library exports operators by name and has neither devices nor memory.
:class:`LegacyOperators` opens it, checks the arguments of each call by the rules of :mod:`.shapes`
and of the schema, and calls it; a host binds its operators instead of those of the runtime's table.
docs/legacy.md describes it for the owner of such a library.
"""

from __future__ import annotations

from .native import LegacyOperators
from .rules import Rule, rules_of

__all__ = ["LegacyOperators", "Rule", "rules_of"]

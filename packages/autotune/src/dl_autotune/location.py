"""Locations of databases: paths of files, and addresses of servers. Imports almost nothing, because
`import torch` imports it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

_HOST = r"(?:\[[0-9a-fA-F:.%]+\]|[^\[\]@?#/:,\s]*)(?::\d+)?"
_ADDRESS = re.compile(
    rf"postgres(?:ql)?://(?:(?P<user>[^:@/?#\s]*)(?::[^@/?#\s]*)?@)?"
    rf"(?P<host>{_HOST}(?:,{_HOST})*)(?P<name>/[^@/?#\s]*)?(?:\?[^@#\s]*)?"
)
"""A URI of libpq (manual of PostgreSQL 15, section 34.1.1.2). It is stricter than libpq, so that no
part of a password that is not percent-encoded can be mistaken for another part."""


@dataclass(frozen=True)
class Address:
    """Address of a database on a PostgreSQL server. ``str`` and ``repr`` omit the password.

    :ivar secret: the whole address, which may contain a password.
    """

    secret: str = field(repr=False)

    @property
    def valid(self) -> bool:
        """True if the parts of the address can be told apart."""
        return _ADDRESS.fullmatch(self.secret) is not None

    def __str__(self) -> str:
        found = _ADDRESS.fullmatch(self.secret)
        if found is None:
            return "postgresql://..."
        user = f"{found['user']}@" if found["user"] else ""
        return f"postgresql://{user}{found['host']}{found['name'] or ''}"


Location = Path | Address


def locate(text: str) -> Location:
    """Return the address that a text is, or else its path."""
    return Address(text) if re.match("postgres(ql)?://", text) else Path(text)


def reveal(location: Location) -> str:
    """Return the text of a location with its password, for the environment of a child process."""
    return location.secret if isinstance(location, Address) else str(location)

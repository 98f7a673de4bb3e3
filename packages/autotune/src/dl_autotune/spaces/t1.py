"""Search spaces from T1 files: parameters with their values, and conditions as expressions."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

from diopi_proto.foreign_file import DOCUMENT_BYTES, read_regular_json

from ..errors import SpaceError
from .parameter import Parameter
from .space import SearchSpace


def read_t1(path: Path) -> SearchSpace:
    """Return the configuration space of a T1 file.

    :raises SpaceError: the file cannot be read, does not follow the T1 schema, has a duplicate key,
    or declares an invalid space; the message names the file.
    """

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, value in pairs:
            if key in found:
                raise SpaceError(f"[space] {path}: key {key} occurs twice in one object")
            found[key] = value
        return found

    try:
        document = read_regular_json(path, DOCUMENT_BYTES, object_pairs_hook=once)
        space = document["ConfigurationSpace"]
        declared = [_parameter(path, each) for each in space["TuningParameters"]]
        conditions = [str(each["Expression"]) for each in space.get("Conditions", [])]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        if isinstance(error, SpaceError):
            raise
        raise SpaceError(f"[space] {path} is not a T1 file: {error!r}") from error
    try:
        return SearchSpace(declared, conditions)
    except SpaceError as error:
        raise SpaceError(f"{error} ({path})") from error


def _parameter(path: Path, declared: dict[str, Any]) -> Parameter:
    """Read a parameter, whose values are a list or the text of one."""
    name, values = declared["Name"], declared["Values"]
    if isinstance(values, str):
        try:
            values = ast.literal_eval(values)
        except (SyntaxError, ValueError):
            raise SpaceError(
                f"[space] {path}: the values of parameter {name}, {values!r}, are not a list of"
                " constants; write them out"
            ) from None
    return Parameter(name, values)

"""The schema as JSON, for readers without yaml."""

from __future__ import annotations

import json
from dataclasses import fields
from typing import Any

from diopi_proto.generate.model import NOTICE, Schema
from diopi_proto.schema import Operator, Parameter


def json_schema(schema: Schema) -> str:
    """Return the text of ``_schema_gen.json``: one operator per line, without default values."""
    lines = [
        f"{json.dumps(op.name)}: {json.dumps(_operator(op), ensure_ascii=False)}"
        for op in schema.operators
    ]
    families = json.dumps(schema.families, ensure_ascii=False)
    head = f'"generated": {json.dumps(NOTICE)},\n"families": {families},\n'
    return "{\n" + head + '"operators": {\n' + ",\n".join(lines) + "\n}\n}\n"


def _operator(operator: Operator) -> dict[str, Any]:
    entry = _without_defaults(operator, ("name", "params"))
    entry["params"] = [_without_defaults(p, ()) for p in operator.params]
    return entry


def _without_defaults(item: Operator | Parameter, leave_out: tuple[str, ...]) -> dict[str, Any]:
    return {
        field.name: getattr(item, field.name)
        for field in fields(item)
        if field.name not in leave_out and getattr(item, field.name) != field.default
    }

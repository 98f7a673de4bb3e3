"""Reader of YAML files, whose values keep their places."""

from __future__ import annotations

import re
from pathlib import Path

import yaml

from .inputs import read_text
from .located import DataError, Place, Scalar, Value, quote, shorten

_LARGEST_FILE = 200_000
"""Bytes of a file; the largest one of a real library has 9,000."""
_MOST_VALUES = 20_000
"""Values of a file after its aliases are replaced by what they refer to."""
_DEEPEST = 16
"""Nested lists and mappings; the format has 5."""
_TAG = "tag:yaml.org,2002:"
_SCALARS = frozenset(
    f"{_TAG}{x}" for x in ("str", "int", "float", "bool", "null", "timestamp", "merge", "value")
)
_INTEGER = re.compile(r"[-+]?(0|[1-9][0-9]*)|0x[0-9a-fA-F]+", re.ASCII)
_MOST_DIGITS = 20


def read(file: Path, shown: str | None = None) -> Value:
    """Read a YAML file.

    :param shown: the path in findings; default: the path itself.
    :raises DataError: the file cannot be read or is not valid YAML.
    """
    name = shown or str(file)
    short = Path(name).name
    text = read_text(file, name, _LARGEST_FILE)
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        line = 1 if error.problem_mark is None else error.problem_mark.line + 1
        problem = error.problem or error.context or "it cannot be parsed"
        raise DataError(
            Place(name, line), short, f"is not valid YAML: {shorten(problem, 200)}; correct it"
        ) from error
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        # PyYAML stores the code of a character here, and declares a text.
        code = int(error.character)
        raise DataError(
            Place(name, line),
            short,
            f"is not valid YAML: the character {code:#06x} is not allowed; remove it",
        ) from error
    except yaml.YAMLError as error:
        raise DataError(
            Place(name, 1), short, f"is not valid YAML: {shorten(str(error), 200)}; correct it"
        ) from error
    except RecursionError as error:
        raise _too_deep(Place(name, _line_of_depth(text)), short) from error
    except (ValueError, OverflowError) as error:
        # A number in a directive or an escape sequence that Python refuses.
        raise DataError(
            Place(name, 1), short, "is not valid YAML: a number is too large; correct it"
        ) from error
    if node is None:
        raise DataError(Place(name, 1), short, "is empty; write its entries, or remove it")
    return _Converter(name).convert(node)


def _too_deep(where: Place, subject: str) -> DataError:
    return DataError(
        where,
        subject,
        f"lists and mappings are nested more than {_DEEPEST} levels deep; write them flat",
    )


def _line_of_depth(text: str) -> int:
    """Return the line at which a text is nested too deeply. The parser of events is iterative."""
    depth = 0
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > _DEEPEST and event.start_mark is not None:
            return event.start_mark.line + 1
    return 1


class _Converter:
    """Conversion of YAML's nodes, which counts the values."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._short = Path(file).name
        self._left = _MOST_VALUES
        # Nodes that contain the current one.
        self._open: list[int] = []

    def convert(self, node: yaml.Node) -> Value:
        where = Place(self._file, node.start_mark.line + 1, node.start_mark.column)
        self._left -= 1
        if self._left < 0:
            raise DataError(
                where,
                self._short,
                f"has more than {_MOST_VALUES} values, with those that its aliases repeat; write "
                "fewer aliases",
            )
        if isinstance(node, yaml.ScalarNode):
            return self._scalar(node, where)
        if id(node) in self._open:
            raise DataError(
                where, self._short, "an alias refers to a value that contains it; write it out"
            )
        if len(self._open) >= _DEEPEST:
            raise _too_deep(where, self._short)
        self._open.append(id(node))
        if isinstance(node, yaml.MappingNode):
            self._check_tag(node, where, frozenset((f"{_TAG}map",)))
            value = self._mapping(node, where)
        else:
            self._check_tag(node, where, frozenset((f"{_TAG}seq",)))
            value = Value([self.convert(x) for x in node.value], where)
        self._open.pop()
        return value

    def _mapping(self, node: yaml.MappingNode, where: Place) -> Value:
        entries: dict[str, Value] = {}
        places: dict[str, Place] = {}
        for key, value in node.value:
            at = Place(self._file, key.start_mark.line + 1, key.start_mark.column)
            if not isinstance(key, yaml.ScalarNode) or not key.value.strip():
                raise DataError(
                    at, self._short, "a key is not a text; keys are names; correct or remove it"
                )
            name = str(key.value)
            if name in entries:
                raise DataError(at, name, "occurs twice in this mapping; remove one")
            entries[name] = self.convert(value)
            places[name] = at
        return Value(entries, where, places)

    def _scalar(self, node: yaml.ScalarNode, where: Place) -> Value:
        raw = str(node.value)
        self._check_tag(node, where, _SCALARS)
        if node.style in ("'", '"'):
            # The text begins after the quote.
            return Value(raw, Place(self._file, where.line, where.column + 1), raw=raw)
        return Value(_plain(node.tag, raw) if node.style is None else raw, where, raw=raw)

    def _check_tag(self, node: yaml.Node, where: Place, known: frozenset[str]) -> None:
        if node.tag not in known:
            tag = node.tag.replace(_TAG, "!!", 1)
            raise DataError(where, self._short, f"the tag {quote(tag)} has no meaning; remove it")


def _plain(tag: str, raw: str) -> Scalar:
    """Return the value of a scalar without quotes."""
    match tag.removeprefix(_TAG):
        case "null":
            return None
        case "bool":
            return raw.lower() in ("true", "yes", "on")
        case "int" if _INTEGER.fullmatch(raw) and len(raw) <= _MOST_DIGITS:
            return int(raw, 0)
        case "float" | "int":
            # The value of other numbers has no use: expressions take their text.
            return 0.0
    return raw

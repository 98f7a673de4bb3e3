"""Names of torch in C++ sources, and whether torch's stable ABI has them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import yaml

RULES = Path(__file__).with_name("names.yaml")
STABLE, OPERATOR = "stable", "operator"
_NAME = re.compile(
    r"\b(?:at|c10|torch|caffe2|c10d)(?:::[A-Za-z_]\w*)+|\b(?:TORCH|C10|AT)_[A-Z0-9_]+\b"
)
# Methods of at::Tensor; a call of another object's method with such a name is counted as well.
_METHODS = (
    "options|unsafeGetTensorImpl|unsafeReleaseTensorImpl|storage|is_alias_of|key_set|is_conj|is_neg|item|"
    "requires_grad|suggest_memory_format|sym_sizes|sym_strides|sym_numel|to|view|narrow|copy_|unsqueeze|"
    "squeeze|reshape|select|slice|contiguous|expand|transpose|permute|fill_|zero_|resize_|as_strided"
)
_METHOD = re.compile(rf"(?:\.|->)({_METHODS})\(")
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)


@cache
def _rules() -> list[tuple[re.Pattern[str], str]]:
    document = yaml.safe_load(RULES.read_text(encoding="utf-8"))
    groups = {STABLE: document["stable"], **document["missing"]}
    return [(re.compile(rule), group) for group, rules in groups.items() for rule in rules]


@cache
def group_of(name: str) -> str:
    """Return ``stable``, ``operator``, or what the stable ABI lacks for a name."""
    found = (group for rule, group in _rules() if rule.fullmatch(name))
    return next(found, OPERATOR)


def names_in(text: str) -> set[str]:
    """Return the names of torch in C++ code, without its comments."""
    code = _COMMENT.sub(" ", text)
    return {*_NAME.findall(code), *(f"Tensor::{name}" for name in _METHOD.findall(code))}


@dataclass
class Layer:
    """Counts of a layer's files.

    :ivar plain: files that name nothing of torch.
    :ivar stable: files whose names the stable ABI has.
    :ivar operators: files that also call operators, which it can do through the dispatcher only.
    :ivar blocked: files that need something that it lacks.
    """

    files: int = 0
    lines: int = 0
    plain: int = 0
    stable: int = 0
    operators: int = 0
    blocked: int = 0


@dataclass
class Survey:
    """Counts by layer, and of files by what they lack.

    :ivar lacking: number of files that need each missing part.
    :ivar only: number of files that it alone blocks.
    """

    layers: dict[str, Layer] = field(default_factory=dict)
    lacking: Counter[str] = field(default_factory=Counter)
    only: Counter[str] = field(default_factory=Counter)

    def add(self, layer: str, text: str) -> None:
        """Count a file."""
        counts = self.layers.setdefault(layer, Layer())
        counts.files += 1
        counts.lines += text.count("\n")
        names = names_in(text)
        groups = {group_of(name) for name in names}
        missing = groups - {STABLE, OPERATOR}
        self.lacking.update(missing)
        if len(missing) == 1:
            self.only.update(missing)
        if missing:
            counts.blocked += 1
        elif OPERATOR in groups:
            counts.operators += 1
        elif names:
            counts.stable += 1
        else:
            counts.plain += 1


def survey(folder: Path) -> Survey:
    """Count the C++ files below a folder by layer: its folder, without groups of operators."""
    found = Survey()
    for path in sorted(_sources(folder)):
        layer = path.parent.relative_to(folder).as_posix()
        group = "aten/composed" if layer.startswith("aten/composed/") else layer
        found.add(group, path.read_text(encoding="utf-8"))
    return found


def _sources(folder: Path) -> Iterable[Path]:
    return (path for suffix in ("*.cpp", "*.h") for path in folder.rglob(suffix))

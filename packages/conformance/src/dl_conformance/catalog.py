"""Catalog of all cases by operator; modules of :mod:`dl_conformance.cases` are imported lazily."""

from __future__ import annotations

import hashlib
import importlib
import pkgutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from diopi_proto.schema import load

from .captured import read_cases
from .case import Case
from .fractional import fractional_cases
from .mixed import mixed_cases
from .models.model import all_models
from .reference import family_of_module, find


@cache
def case_modules() -> tuple[str, ...]:
    """Return the names of all modules of cases."""
    from dl_conformance import cases

    return tuple(sorted(x.name for x in pkgutil.iter_modules(cases.__path__)))


@cache
def cases_of_family(family: str) -> dict[str, tuple[Case, ...]]:
    """Return the cases of a family by operator, without operators that lack a reference."""
    found: dict[str, dict[str, Case]] = {}
    described = (*_of_modules(family), *_of_promotion(family), *_of_models(family))
    for case in (*described, *_of_fractions(family, described)):
        known = found.setdefault(case.operator, {})
        name = _free_name(case, known)
        both = (*known[name].models, *case.models) if name in known else case.models
        known[name] = replace(case, name=name, models=tuple(dict.fromkeys(both)))
    return {name: tuple(x.values()) for name, x in found.items() if find(name) is not None}


def _free_name(case: Case, known: Mapping[str, Case]) -> str:
    """Return the name of a case, with a number if another call already has that name.

    Calls that differ only in elements, or in shapes and dtypes of outputs, have the same name.
    """
    name, number = case.name, 1
    while name in known and not _is_same(known[name], case):
        number += 1
        name = f"{case.name.removesuffix(']')}-call {number}]"
    return name


def _is_same(known: Case, case: Case) -> bool:
    return repr(replace(known, name="", models=())) == repr(replace(case, name="", models=()))


def _of_modules(family: str) -> Iterator[Case]:
    for module in case_modules():
        if family_of_module(module) == family:
            content = importlib.import_module(f"dl_conformance.cases.{module}")
            for calls in content.CASES:
                yield from calls.cases()


def _of_promotion(family: str) -> Iterator[Case]:
    for operator in load().values():
        if operator.family == family:
            yield from mixed_cases(operator)


def _of_models(family: str) -> Iterator[Case]:
    for name, model in all_models().items():
        for calls in model.calls:
            if any(load()[x].family == family for x in calls.operators):
                for case in calls.cases():
                    yield replace(case, models=(name,))


def _of_fractions(family: str, others: Sequence[Case]) -> Iterator[Case]:
    for operator in load().values():
        if operator.family == family:
            own = [case for case in others if case.operator == operator.name]
            yield from fractional_cases(operator, own)


def cases_of(operator: str) -> tuple[Case, ...]:
    """Return the cases of an operator."""
    return cases_of_family(load()[operator].family).get(operator, ())


def all_cases() -> Iterator[Case]:
    """Yield every case, in the order of the contract."""
    for operator in load():
        yield from cases_of(operator)


def cases_of_files(paths: Iterable[str]) -> dict[str, Case]:
    """Return the cases of case files by name; see :mod:`.captured`.

    :raises CaseFileError: a file is invalid.
    """
    return {case.name: case for path in paths for case in read_cases(Path(path))}


def case_named(name: str) -> Case:
    """Return the case with a name.

    :raises KeyError: no case has that name.
    """
    operator = name.partition("[")[0]
    for case in cases_of(operator) if operator in load() else ():
        if case.name == name:
            return case
    raise KeyError(f"no case is named {name!r}; `dl conformance --list` prints all names")


def in_sample(name: str, parts: int, seed: int) -> bool:
    """Return True if a case is in the one of ``parts`` random parts that the seed selects."""
    digest = hashlib.blake2b(f"{seed} {name}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little") % parts == 0

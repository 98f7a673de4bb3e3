"""The steps by name, with their CPU references, which are computed once per test run."""

from __future__ import annotations

import functools

from dl_torch_tests.models.one_step import Results, Step
from dl_torch_tests.models.rule import Rule
from dl_torch_tests.models.small_steps import SMALL_STEPS

from .steps import STEPS


@functools.cache
def step_of(name: str) -> Step:
    return (STEPS | SMALL_STEPS)[name]()


@functools.cache
def reference_of(name: str) -> Results:
    return step_of(name).reference()


@functools.cache
def variants_of(name: str) -> dict[str, Results]:
    return step_of(name).cpu_variants()


@functools.cache
def rule_of(name: str) -> Rule:
    return Rule(step_of(name), reference_of(name), variants_of(name))

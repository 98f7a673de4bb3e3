"""One step of torchvision's models on dl is as close to float64 as the CPU's variants are."""

from __future__ import annotations

import functools

import pytest
import torch

from dl_torch_tests.models.one_step import Step
from dl_torch_tests.models.rule import Rule, check

from .steps import STEPS


@functools.cache
def step_of(name: str) -> Step:
    return STEPS[name]()


@functools.cache
def rule_of(name: str) -> Rule:
    step = step_of(name)
    return Rule(step, step.reference(), step.cpu_variants())


@pytest.mark.parametrize("name", STEPS)
def test_one_step_is_as_exact_as_the_cpus(name: str, device: torch.device) -> None:
    check(rule_of(name), step_of(name).run(device))


@pytest.mark.parametrize("name", STEPS)
def test_rule_sees_every_gradient(name: str) -> None:
    assert not rule_of(name).blind_to()

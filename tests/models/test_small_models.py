"""Layers that the examples lack: one step of a small model is as accurate as the CPU's."""

from __future__ import annotations

import pytest
import torch

from dl_torch_tests.models.rule import Rule, check
from dl_torch_tests.models.small_steps import SMALL_STEPS

from .cases import reference_of, rule_of, step_of, variants_of
from .decisions import margin


@pytest.mark.parametrize("name", SMALL_STEPS)
def test_one_step_is_as_exact_as_the_cpus(name: str, device: torch.device) -> None:
    check(rule_of(name), step_of(name).run(device))


@pytest.mark.parametrize("name", SMALL_STEPS)
def test_one_step_in_bfloat16(name: str, device: torch.device) -> None:
    step, dtype = step_of(name), torch.bfloat16
    rule = Rule(step, reference_of(name), step.cpu_variants(dtype), dtype)
    assert not rule.blind_to()
    check(rule, step.run(device, autocast=dtype))


@pytest.mark.parametrize("name", SMALL_STEPS)
def test_rule_sees_every_gradient(name: str) -> None:
    assert not rule_of(name).blind_to()


@pytest.mark.parametrize("name", SMALL_STEPS)
def test_no_decision_is_within_the_errors(name: str) -> None:
    assert margin(step_of(name)) > rule_of(name).relative_error_of_output()


@pytest.mark.parametrize("name", SMALL_STEPS)
def test_each_cpu_variant_passes_by_the_others(name: str) -> None:
    variants = variants_of(name)
    for left_out, results in variants.items():
        others = {key: value for key, value in variants.items() if key != left_out}
        check(Rule(step_of(name), reference_of(name), others), results)

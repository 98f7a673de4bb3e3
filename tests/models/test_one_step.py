"""One step of the three example models on dl is as near to float64 as the CPU's own variants are."""

from __future__ import annotations

import functools

import pytest
import torch

from .decisions import margin
from .one_step import Results, Step
from .rule import Rule, worst
from .steps import FULL_STEPS, STEPS

# The gradient of a key's bias is zero in exact arithmetic: softmax forgets what is added to a row.
ZERO_GRADIENTS = {
    f"gradient of bert.encoder.layer.{layer}.attention.self.key.bias" for layer in range(4)
}


@functools.cache
def step_of(name: str) -> Step:
    return STEPS[name]()


@functools.cache
def reference_of(name: str) -> Results:
    return step_of(name).reference()


@functools.cache
def rule_of(name: str) -> Rule:
    return Rule(step_of(name), reference_of(name), step_of(name).cpu_variants())


def check(rule: Rule, results: Results) -> None:
    print(worst(rule.judge(results)))
    failures = rule.failures(results)
    assert not failures, "\n".join(failures)


@pytest.mark.parametrize("name", STEPS)
def test_one_step_is_as_exact_as_the_cpus(name: str, device: torch.device) -> None:
    check(rule_of(name), step_of(name).run(device))


@pytest.mark.full
@pytest.mark.parametrize("name", FULL_STEPS)
def test_one_step_with_the_examples_batches(name: str, device: torch.device) -> None:
    step = STEPS[name](*FULL_STEPS[name])
    check(Rule(step, step.reference(), step.cpu_variants()), step.run(device))


@pytest.mark.parametrize("name", ["encoder", "decoder"])
def test_one_step_in_bfloat16(name: str, device: torch.device) -> None:
    step, dtype = step_of(name), torch.bfloat16
    rule = Rule(step, reference_of(name), step.cpu_variants(dtype), dtype)
    assert set(rule.blind_to()) <= ZERO_GRADIENTS
    check(rule, step.run(device, autocast=dtype))


def test_one_step_of_the_cnn_in_bfloat16(device: torch.device) -> None:
    """Against one of the CPU's runs: float64 decides too many ReLUs otherwise, see ``rule.py``."""
    step, dtype = step_of("cnn"), torch.bfloat16
    (_, first), *others = step.cpu_variants(dtype).items()
    rule = Rule(step, first, dict(others), dtype)
    assert not rule.blind_to()
    check(rule, step.run(device, autocast=dtype))


@pytest.mark.parametrize("name", STEPS)
def test_rule_sees_every_gradient(name: str) -> None:
    assert set(rule_of(name).blind_to()) <= ZERO_GRADIENTS


@pytest.mark.parametrize("name", STEPS)
def test_each_cpu_variant_passes_by_the_others(name: str) -> None:
    """The rule is one that right answers keep."""
    variants = step_of(name).cpu_variants()
    for left_out, results in variants.items():
        others = {key: value for key, value in variants.items() if key != left_out}
        check(Rule(step_of(name), reference_of(name), others), results)


def test_no_decision_of_the_cnn_is_within_its_errors() -> None:
    output = reference_of("cnn")["output"]
    largest = {
        judgement.name: judgement.allowed
        for judgement in rule_of("cnn").judge(step_of("cnn").run())
        if judgement.measure == "largest"
    }
    # The output lies at the end of the longest way: what comes before it is off by less.
    assert margin(step_of("cnn")) > largest["output"] / float(output.square().mean().sqrt())

"""The rule detects wrong training steps: each fault, injected on the CPU, is reported at its
origin.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable

import pytest
import torch
from torch import nn
from torch.nn import functional

from dl_torch_tests.models.one_step import Batch, Results
from dl_torch_tests.models.rule import Rule

from .cases import reference_of, rule_of, step_of, variants_of
from .steps import STEPS


def wrong(name: str, results: Results) -> set[str]:
    """Return the names of the tensors that the rule reports as wrong."""
    return {judgement.name for judgement in rule_of(name).judge(results) if not judgement.ok}


def wrong_with_model(name: str, change: Callable[[nn.Module], None]) -> set[str]:
    model = copy.deepcopy(step_of(name).model)
    change(model)
    return wrong(name, step_of(name).changed(model=model).run())


def modules(model: nn.Module, kind: type[nn.Module]) -> Iterable[nn.Module]:
    found = [module for module in model.modules() if isinstance(module, kind)]
    assert found
    return found


@pytest.mark.parametrize("name", [*STEPS, "mlp", "tagger"])
@pytest.mark.parametrize("part", ["gradient of", "updated"])
def test_one_wrong_element_is_found_in_each_tensor(name: str, part: str) -> None:
    """Increase one element of each tensor by a thousandth of the average element."""
    step = step_of(name)
    results, changed = step.run(), set()
    for key, values in results.items():
        # Weights that start at zero have moved by no more than the step, and are a step large.
        if key.startswith(part) and values.is_floating_point() and "key.bias" not in key:
            values.view(-1)[values.numel() // 2] += 1e-3 * values.square().mean().sqrt()
            changed.add(key)
    found = wrong(name, results)
    if part == "gradient of":
        # The optimizer did not take the changed gradient.
        found = {key for key in found if key.startswith(part)}
    assert changed
    assert found == changed


def test_missing_result_is_found() -> None:
    results = step_of("mlp").run()
    del results["gradient of 3.bias"]
    assert wrong("mlp", results) == {"gradient of 3.bias"}


def test_result_of_another_dtype_or_shape_is_found() -> None:
    results = step_of("mlp").run()
    results["output"] = results["output"].double()
    results["gradient of 3.weight"] = results["gradient of 3.weight"][:1]
    assert wrong("mlp", results) == {"output", "gradient of 3.weight"}


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_result_that_is_not_finite_is_found(value: float) -> None:
    results = step_of("mlp").run()
    results["gradient of 3.weight"][1, 1] = value
    assert "gradient of 3.weight" in wrong("mlp", results)


def test_wrong_count_of_batches_is_found() -> None:
    results = step_of("mlp").run()
    results["updated 1.num_batches_tracked"] += 1
    assert wrong("mlp", results) == {"updated 1.num_batches_tracked"}


@pytest.mark.parametrize("name", ["mlp", "encoder"])
def test_dropped_bias_is_found(name: str) -> None:
    def drop(model: nn.Module) -> None:
        linear = next(m for m in modules(model, nn.Linear) if m.bias is not None)
        # BERT's biases start at zero, so that only the missing gradient is detected.
        linear.bias = None

    assert any("bias" in key for key in wrong_with_model(name, drop))


def test_bias_left_out_of_the_sum_is_found() -> None:
    def drop(model: nn.Module) -> None:
        next(m for m in modules(model, nn.Linear) if m.bias is not None).bias.data.zero_()

    assert "output" in wrong_with_model("mlp", drop)


@pytest.mark.parametrize(
    ("name", "kind"),
    [("cnn", nn.BatchNorm2d), ("encoder", nn.LayerNorm), ("autoencoder", nn.GroupNorm)],
)
def test_wrong_epsilon_of_a_norm_is_found(name: str, kind: type[nn.Module]) -> None:
    def enlarge(model: nn.Module) -> None:
        for module in modules(model, kind):
            # BERT uses 1e-12, which has no effect.
            module.eps = max(2 * module.eps, 1e-7)

    assert any(key.startswith("gradient of") for key in wrong_with_model(name, enlarge))


def test_biased_running_variance_is_found() -> None:
    results = step_of("cnn").run()
    key, rows = "updated features.1.running_var", 24 * 8 * 8
    # 0.9 of the variance from before, which is 1, and a tenth of the batch's, over rows - 1.
    results[key] = 0.9 + (results[key] - 0.9) * (rows - 1) / rows
    assert wrong("cnn", results) == {key}


def adamw_with(**changes: float) -> Callable[[list[nn.Parameter]], torch.optim.Optimizer]:
    return lambda parameters: torch.optim.AdamW(parameters, **({"lr": 1e-3} | changes))


@pytest.mark.parametrize("changes", [{"eps": 2e-8}, {"weight_decay": 0.0}, {"lr": 1.0001e-3}])
def test_wrong_step_of_the_optimizer_is_found(changes: dict[str, float]) -> None:
    """Every option except Adam's ``betas``, which have no effect in the first step; see
    test_optimizers.
    """
    found = wrong("tagger", step_of("tagger").changed(make_optimizer=adamw_with(**changes)).run())
    assert found
    assert all(key.startswith("updated ") for key in found)


def test_gradients_that_were_not_clipped_are_found() -> None:
    assert "gradient of classifier.bias" in wrong("lstm", step_of("lstm").changed(clip=1e9).run())


@pytest.mark.parametrize("name", ["cnn", "tagger", "lstm"])
def test_sixteen_bit_arithmetic_is_found(name: str) -> None:
    """Float32 results that were computed in bfloat16 are detected."""
    results = step_of(name).run(autocast=torch.bfloat16)
    results["output"] = results["output"].float()
    gradients = {key for key in results if key.startswith("gradient of")}
    assert wrong(name, results) >= gradients


def test_approximate_gelu_is_found() -> None:
    def approximate(model: nn.Module) -> None:
        for module in modules(model, nn.GELU):
            module.approximate = "tanh"

    assert "output" in wrong_with_model("mlp", approximate)


def test_mean_over_one_row_too_many_is_found() -> None:
    def forward(model: nn.Module, batch: Batch) -> tuple[torch.Tensor, torch.Tensor]:
        logits = model(batch["inputs"])
        loss = functional.cross_entropy(logits, batch["labels"], reduction="sum")
        return loss / (len(logits) + 1), logits

    found = wrong("cnn", step_of("cnn").changed(forward=forward).run())
    assert "loss" in found
    assert "output" not in found
    gradients = {key for key in rule_of("cnn").names if key.startswith("gradient of")}
    assert gradients <= found


def test_half_of_a_tied_gradient_is_found() -> None:
    """The word embeddings are the last layer's weights too: both have a share in the gradient."""
    step = step_of("encoder")

    def forward(model: nn.Module, batch: Batch) -> tuple[torch.Tensor, torch.Tensor]:
        decoder = model.cls.predictions.decoder
        with torch.no_grad():
            untied = decoder.weight.clone()
        decoder._parameters["weight"] = nn.Parameter(untied, requires_grad=False)
        return step.forward(model, batch)

    found = wrong("encoder", step.changed(forward=forward).run())
    assert "gradient of bert.embeddings.word_embeddings.weight" in found


def test_rule_needs_a_variant() -> None:
    with pytest.raises(ValueError, match="variants is empty"):
        Rule(step_of("mlp"), reference_of("mlp"), {})


def test_rule_refuses_a_variant_that_is_not_finite() -> None:
    """A nan is detected, although its error is not larger than any bound."""
    variant = step_of("mlp").run()
    variant["output"][0, 0] = float("nan")
    with pytest.raises(ValueError, match=r"not finite: \['output'\]"):
        Rule(step_of("mlp"), reference_of("mlp"), variants_of("mlp") | {"broken": variant})

"""autocompare names exactly the operator that is wrong, whatever the error."""

from __future__ import annotations

import json
import logging
import threading
from pathlib import Path

import pytest
import torch

from dl_core.errors import WrongResultError

from .processes import AFTER_BACKWARD, RUNS_ONCE, output, run
from .stub_vendor import StubVendor

PREPARE = """
import json, torch
x = torch.arange(1.0, 5.0, device="dl")
"""

CASES = (
    ("x.sqrt()", "sqrt", "output 0", ("worst at (2,)", "ulp of float32", "self=float32[4]")),
    ("x.clone().sqrt_()", "sqrt_", "self", ("self: 1 of 4 elements", "vendor stub")),
    ("torch.sqrt(x, out=torch.ones_like(x))", "sqrt.out", "out", ("out=float32[4]",)),
    ("x.clone().sin()", "sin", "argument self", ("its value changed", "on dl:0")),
    (
        "x.clone().requires_grad_().tanh().sum().backward()",
        "tanh_backward",
        "output 0",
        ("grad_output=float32[4], output=float32[4]",),
    ),
    # Composed of a square root: only that is wrong.
    ("torch.hypot(x, x)", "sqrt_", "self", ()),
)
"""Call, wrong operator, the differing output, and the message."""


@pytest.fixture(scope="module")
def wrong(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    vendor = StubVendor(tmp_path_factory.mktemp("wrong"))
    return vendor.compile(Path(__file__).with_name("wrong_vendor.cpp")).variables()


@pytest.fixture(scope="module")
def findings(wrong: dict[str, str]) -> dict[str, list[tuple[str, list[str], str]]]:
    """Return the findings for each case: operator, outputs, message."""
    code = f"""{PREPARE}
findings = {{}}
for action in {[case[0] for case in CASES]!r}:
    with torch.dl.autocompare() as report:
        eval(action)
    findings[action] = [(each.operator, each.outputs, each.message) for each in report.wrong]
print(json.dumps(findings))
{AFTER_BACKWARD}"""
    found: dict[str, list[tuple[str, list[str], str]]] = json.loads(output(code, **wrong))
    return found


@RUNS_ONCE
@pytest.mark.parametrize(("action", "operator", "what", "said"), CASES)
def test_a_wrong_operator_is_named(
    findings: dict[str, list[tuple[str, list[str], str]]],
    action: str,
    operator: str,
    what: str,
    said: tuple[str, ...],
) -> None:
    ((guilty, outputs, message),) = findings[action]
    assert (guilty, outputs) == (operator, [what])
    assert message.startswith(f"[autocompare] {operator} on dl:0 (vendor stub) differs")
    for part in said:
        assert part in message


@RUNS_ONCE
def test_no_alarm_is_raised_on_a_right_operator(wrong: dict[str, str]) -> None:
    code = f"""{PREPARE}
with torch.dl.autocompare() as report:
    x.neg(), x.exp(), x + x, x.mul_(2)
print(report.wrong, report.compared["exp"])
"""
    assert output(code, **wrong) == "[] 1"


@RUNS_ONCE
def test_the_variable_logs_each_wrong_call(wrong: dict[str, str]) -> None:
    code = "import torch; x = torch.ones(4, device='dl'); x.sqrt(); x.neg(); x.sqrt()"
    for variable in ("DL_AUTOCOMPARE", "DIPU_AUTOCOMPARE_OPS_LIST"):
        done = run(code, **wrong, **{variable: "1"})
        assert done.returncode == 0, done.stderr
        assert done.stderr.count("[autocompare] sqrt on dl:0") == 2
        # DIPU's variable also logs the calls that are right.
        assert ("neg on dl:0: allclose" in done.stderr) is variable.startswith("DIPU")
        assert done.stderr.count("neg") == variable.startswith("DIPU")


@RUNS_ONCE
def test_the_variable_raises_on_request(wrong: dict[str, str]) -> None:
    code = "import torch; x = torch.ones(4, device='dl'); x.neg(); x.sqrt()"
    done = run(code, **wrong, DL_AUTOCOMPARE="sqrt,neg", DL_AUTOCOMPARE_ACTION="raise")
    assert done.returncode == 1
    assert "WrongResultError: [autocompare] sqrt on dl:0" in done.stderr


@RUNS_ONCE
def test_raising_leaves_the_device_usable_in_forward_and_backward(wrong: dict[str, str]) -> None:
    code = f"""{PREPARE}
from dl_core.errors import WrongResultError
for action in (lambda: x.sqrt(), lambda: x.clone().requires_grad_().tanh().sum().backward()):
    try:
        with torch.dl.autocompare(action="raise"):
            action()
    except WrongResultError as error:
        print(str(error).split()[1])
assert (x + x).tolist() == [2, 4, 6, 8]
x.sqrt()
{AFTER_BACKWARD}"""
    assert output(code, **wrong).split() == ["sqrt", "tanh_backward"]


def test_a_training_step_is_right_everywhere() -> None:
    torch.manual_seed(0)
    model = torch.nn.Sequential(
        torch.nn.Conv2d(2, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.ReLU(), torch.nn.Flatten(1)
    ).to("dl")
    optimizer = torch.optim.AdamW(model.parameters())
    data = torch.randn(3, 2, 6, 6).to("dl")
    with torch.dl.autocompare() as report:
        loss = model(data).square().mean()
        loss.backward()
        optimizer.step()
    assert [each.message for each in report.wrong] == []
    for operator in ("convolution", "convolution_backward", "threshold_backward"):
        assert report.compared[operator] == 1, report.compared


def test_only_the_operators_asked_for_are_compared() -> None:
    x = torch.ones(3, device="dl")
    with torch.dl.autocompare("add.*") as report:
        _ = x + x, x * x
    assert dict(report.compared) == {"add.Tensor": 1}
    _ = x + x
    assert dict(report.compared) == {"add.Tensor": 1}


def test_random_numbers_are_reported_as_not_comparable() -> None:
    with torch.dl.autocompare() as report:
        values = torch.rand(5, device="dl").bernoulli()
    assert "random numbers" in report.not_comparable["uniform_"], report
    assert report.wrong == [] and values.shape == (5,)
    torch.manual_seed(7)
    plain = torch.rand(5, device="dl").tolist()
    torch.manual_seed(7)
    with torch.dl.autocompare():
        assert torch.rand(5, device="dl").tolist() == plain


def test_blocks_are_nested_and_restored() -> None:
    x = torch.ones(3, device="dl")
    with torch.dl.autocompare("add.*") as outer:
        with torch.dl.autocompare("mul.*") as inner:
            _ = x + x, x * x
        _ = x + x, x * x
    assert dict(outer.compared) == {"add.Tensor": 2}
    assert dict(inner.compared) == {"mul.Tensor": 1}


def test_threads_switch_it_on_and_off_while_others_compute() -> None:
    stop, failures = threading.Event(), []

    def compute() -> None:
        x = torch.arange(8.0, device="dl")
        want = (torch.arange(8.0) * 2 + 1).tolist()
        while not stop.is_set():
            if ((x * 2) + 1).tolist() != want:
                failures.append("wrong")

    threads = [threading.Thread(target=compute) for _ in range(2)]
    for thread in threads:
        thread.start()
    for _ in range(10):
        with torch.dl.autocompare("add.*,mul.*") as report:
            _ = torch.ones(2, device="dl") + 1
        assert report.wrong == []
    stop.set()
    for thread in threads:
        thread.join()
    assert failures == []


def test_views_in_place_writes_and_shared_arguments_are_right() -> None:
    with torch.dl.autocompare() as report:
        x = torch.arange(12.0, device="dl").reshape(3, 4)
        x[1:].t().add_(x[0, :3].sum())
        x.add_(x)
        torch.mul(x, x, out=x)
        x[:, ::2].copy_(x[:, 1::2])
        torch.cat([x, x.t().reshape(3, 4)]).sort(dim=1)
        (x > 3).any(), x.to(torch.bfloat16).softmax(-1), x.to(torch.int64) // 3
    assert [each.message for each in report.wrong] == []
    assert report.compared["add_.Tensor"] == 2


def test_what_the_cpu_refuses_is_no_alarm(caplog: pytest.LogCaptureFixture) -> None:
    x = torch.ones(2, 3, device="dl")
    with caplog.at_level(logging.WARNING), torch.dl.autocompare() as report:
        with pytest.raises(RuntimeError):
            x @ x
        assert (x @ x.t()).tolist() == [[3, 3], [3, 3]]
    assert report.wrong == [] and caplog.records == []


@pytest.mark.parametrize("pattern", ["add(", "*add", "[a-"])
def test_an_invalid_pattern_is_an_error_and_changes_nothing(pattern: str) -> None:
    x = torch.ones(2, device="dl")
    with pytest.raises(ValueError, match=r"torch\.dl\.autocompare"):
        torch.dl.autocompare(pattern).__enter__()
    with torch.dl.autocompare("add.*") as report:
        with pytest.raises(ValueError, match="regular expression"):
            torch.dl.set_autocompare([pattern])
        _ = x + x
    assert report.compared["add.Tensor"] == 1


def test_a_catastrophic_pattern_ends() -> None:
    with torch.dl.autocompare("(a*)*b,(x+x+)+y") as report:
        _ = torch.ones(2, device="dl") + 1
    assert not report.compared


def test_an_unknown_action_is_an_error() -> None:
    with pytest.raises(ValueError, match="unknown action 'shout'; expected warn, raise"):
        torch.dl.set_autocompare("add.*", action="shout")
    with pytest.raises(TypeError, match="one comma-separated string"):
        torch.dl.set_autocompare(3)  # type: ignore[arg-type]


def test_modes_combine(capfd: pytest.CaptureFixture[str]) -> None:
    x = torch.ones(3, device="dl")
    torch.dl.reset_fallback_stats()
    with (
        torch.dl.force_fallback("add.out"),
        torch.dl.dump_op_args(1, "add.*"),
        torch.dl.autocompare("add.*", action="raise") as report,
    ):
        assert (x + x).tolist() == [2, 2, 2]
    assert report.compared["add.Tensor"] == 1
    assert torch.dl.fallback_stats()["add.Tensor"]["count"] == 1
    assert capfd.readouterr().err == "[fallback dl:0]:add.Tensor\n"


def test_the_error_is_one_of_ours() -> None:
    assert issubclass(WrongResultError, Exception)
    assert WrongResultError.__module__ == "dl_core.errors"


@RUNS_ONCE
def test_level_one_writes_a_line_for_each_compared_call(wrong: dict[str, str]) -> None:
    code = f"{PREPARE}\nx.cos()\nx.sqrt()"
    done = run(code, **wrong, DIPU_AUTOCOMPARE_OPS_LIST="cos,sqrt")
    assert "autocompare: cos on dl:0: allclose\n" in done.stderr
    assert "autocompare: sqrt on dl:0: not_close: output 0\n" in done.stderr
    quiet = run(code, **wrong, DIPU_AUTOCOMPARE_OPS_LIST="cos,sqrt", DL_AUTOCOMPARE_LEVEL="0")
    assert "allclose" not in quiet.stderr and "sqrt on dl:0" in quiet.stderr


@RUNS_ONCE
def test_an_unknown_level_is_an_error() -> None:
    with pytest.raises(ValueError, match="unknown level 2; expected 0 or 1"):
        torch.dl.set_autocompare(".*", level=2)

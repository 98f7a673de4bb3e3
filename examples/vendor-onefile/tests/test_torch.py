"""The vendor under torch: six operators on the device, all others on the CPU with copies."""

from __future__ import annotations

from conftest import RunTorch


def test_tensors_go_to_the_device_and_back(run_torch: RunTorch) -> None:
    said = run_torch("""
for device in ("dl:0", "dl:1"):
    for x in (torch.randn(3, 4), torch.arange(5), torch.tensor([True, False]), torch.empty(0, 2),
              torch.randn(4, 6).t(), torch.randn(2, 3, dtype=torch.complex64)):
        y = x.to(device)
        assert y.device == torch.device(device) and torch.equal(y.cpu(), x)
print(torch.dl.get_device_name(1), torch.dl.device_count())
""")
    assert said == "simulated device 1 2"


def test_six_operators_run_on_the_device(run_torch: RunTorch) -> None:
    run_torch("""
torch.manual_seed(0)
x, y, row = torch.randn(3, 4), torch.randn(3, 4), torch.randn(4)
for device in ("dl:0", "dl:1"):
    a, b, c = x.to(device), y.to(device), row.to(device)
    with torch.dl.fallback("error"):
        pairs = [
            (torch.add(a, b, alpha=2), x + 2 * y),
            (a + c, x + row),
            (a * b, x * y),
            (-a, -x),
            (torch.relu(a), torch.relu(x)),
            (a.t().contiguous(), x.t()),
            (a @ b.t(), x @ y.t()),
        ]
        a.add_(b).mul_(c).relu_()
    pairs.append((a, torch.relu((x + y) * row)))
    for got, expected in pairs:
        torch.testing.assert_close(got.cpu(), expected)
assert torch.dl.fallback_stats().totals["fallback"] == 0
""")


def test_other_operators_run_on_the_cpu_with_copies(run_torch: RunTorch) -> None:
    run_torch("""
torch.manual_seed(0)
x = torch.randn(4, 5)
y = x.to("dl")
torch.testing.assert_close(torch.softmax(y, 1).cpu(), torch.softmax(x, 1))
torch.testing.assert_close(torch.linalg.svdvals(y).cpu(), torch.linalg.svdvals(x))
torch.testing.assert_close((y.double() + 1).cpu(), x.double() + 1)
assert torch.dl.fallback_stats().totals["fallback"] >= 3
try:
    with torch.dl.fallback("error"):
        torch.softmax(y, 1)
    raise AssertionError("it ran")
except NotImplementedError as error:
    assert "vendor onefile" in str(error)
""")


def test_a_model_learns(run_torch: RunTorch) -> None:
    run_torch("""
import os, sys
def train(device):
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2))
    data, wanted = torch.randn(16, 4).to(device), (torch.arange(16) % 2).to(device)
    model.to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
    losses = []
    for _ in range(8):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(data), wanted)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses
expected = train("cpu")
for device in ("dl:0", "dl:1"):
    torch.testing.assert_close(train(device), expected, rtol=1e-4, atol=1e-5)
assert expected[-1] < expected[0]
# torch's autograd threads drop their last objects after backward has returned.
sys.stdout.flush()
os._exit(0)
""")


def test_overlapping_copies_are_torchs(run_torch: RunTorch) -> None:
    """Copies raise an error where torch raises one, and otherwise have torch's result."""
    run_torch("""
def outcome(make, device):
    x = torch.arange(12.0).to(device)
    try:
        make(x)
    except RuntimeError as error:
        return str(error).splitlines()[0], x.cpu().tolist()
    return None, x.cpu().tolist()

def ahead(x):
    x[1:] = x[:-1]

cases = [
    lambda x: x[:9].view(3, 3).copy_(x[:9].view(3, 3).t()),
    ahead,
    lambda x: x[2:6].copy_(x[:4]),
    lambda x: x[:4].copy_(x[3:4]),
    lambda x: x.copy_(x),
    lambda x: x[::2].copy_(x[1::2]),
    lambda x: x[:1].expand(4).copy_(x[4:8]),
    lambda x: x[6:].copy_(x[:6]),
]
refused = 0
for case in cases:
    expected, got = outcome(case, "cpu"), outcome(case, "dl")
    assert (expected[0] is None) == (got[0] is None), (expected, got)
    assert expected[1] == got[1], (expected, got)
    refused += got[0] is not None
assert refused == 5
""")


def test_a_machine_without_a_device_raises_no_error(run_torch: RunTorch) -> None:
    said = run_torch("print(hasattr(torch, 'dl') and torch.dl.is_available())", SIM_DEVICES="0")
    assert said == "False"

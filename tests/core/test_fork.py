"""A forked child cannot use its parent's device: the error is immediate, and nothing hangs."""

from __future__ import annotations

from pathlib import Path

import pytest

from .processes import AFTER_BACKWARD, RUNS_ONCE, VENDORS, output

# Two threads and a large tensor: the thread pools of both would be dead in the child.
USE = """
import os
import torch

torch.set_num_threads(2)
host = torch.ones(1 << 22)
x = torch.ones(1 << 22, device="dl")
assert (x + x).sum().item() == 2 << 22
model = torch.nn.Linear(4, 4).to("dl")
torch.dl.set_force_fallback(["digamma_"])
"""

CHILD = """
def in_child(action):
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            said = f"returned {action()}"
        except RuntimeError as error:
            said = f"raised {error}"
        os.write(write, said.encode())
        os._exit(0)
    os.close(write)
    said = os.fdopen(read).read()
    assert os.waitpid(child, 0)[1] == 0
    return said
"""

ACTIONS = {
    "new memory": "torch.empty(2, device='dl')",
    "new memory on another device": "torch.empty(2, device='dl:1')",
    "operator": "x + x",
    "operator in place": "x.add_(1)",
    "small operator in place": "x[:1].add_(1)",
    "fallback": "x.view(2, -1).digamma_()",
    "small fallback": "x[:1].digamma_()",
    "copy to the host": "x.cpu()",
    "copy to the device": "x.copy_(host)",
    "storage": "x.untyped_storage().cpu()",
    "item": "x[0].item()",
    "module": "model(x[:4])",
    "move of a module": "torch.nn.Linear(2, 2).to('dl')",
    "random numbers": "torch.randn(3, device='dl')",
    "stream": "torch.Stream('dl')",
    "event": "torch.Event('dl').record()",
    "pinned memory": "torch.ones(3).pin_memory()",
}

pytestmark = [RUNS_ONCE, pytest.mark.parametrize("vendor", VENDORS)]


def test_a_forked_child_gets_the_remedy(vendor: str) -> None:
    attempts = "".join(f"print(in_child(lambda: {action}))\n" for action in ACTIONS.values())
    code = f"{USE}{CHILD}{attempts}print((x * 3).sum().item())"
    *said, last = output(code, DL_VENDORS=vendor, DL_CPU_DEVICES="2").splitlines()
    answers = dict(zip(ACTIONS, said, strict=True))
    wrong = {k: v for k, v in answers.items() if not (v.startswith("raised ") and "'spawn'" in v)}
    assert not wrong
    assert last == str(float(3 << 22)), "the parent goes on"


def test_child_can_free_what_its_parent_made(vendor: str) -> None:
    code = f"""{USE}{CHILD}
def free():
    global x, model
    del x, model
    return torch.dl.is_initialized(), torch.dl._is_in_bad_fork()

print(in_child(free))
assert torch.dl.is_initialized() and not torch.dl._is_in_bad_fork()
print(x[:2].tolist())
"""
    assert output(code, DL_VENDORS=vendor) == "returned (False, True)\n[1.0, 1.0]"


def test_child_computes_on_the_cpu(vendor: str) -> None:
    """With one thread: GNU OpenMP's own pool does not survive a fork, with or without dl."""
    code = f"""{USE}{CHILD}
def compute():
    torch.set_num_threads(1)
    torch.manual_seed(3)
    weight = torch.randn(64, 64, requires_grad=True)
    (weight @ weight).sum().backward()
    expected = weight.sum(1) + weight.sum(0)[:, None]
    return torch.allclose(weight.grad, expected, atol=1e-4)

print(in_child(compute))
"""
    assert output(code, DL_VENDORS=vendor) == "returned True"


def test_a_forked_child_of_a_process_without_tensors_computes_or_gets_the_remedy(
    vendor: str,
) -> None:
    code = f"""import os, torch
assert torch.dl.is_available() and torch.dl.device_count() > 0
torch.manual_seed(1)
{CHILD}
print(in_child(lambda: (torch.ones(8, device="dl") + 1).sum().item()))
"""
    said = output(code, DL_VENDORS=vendor)
    # Querying the number of devices, as `import torch` does, may start a driver.
    told = vendor == "async" and said.startswith("raised ") and "'spawn'" in said
    assert said == "returned 16.0" or told


def test_forked_process_of_multiprocessing_reports_the_remedy(vendor: str) -> None:
    code = f"""{USE}
def work(queue):
    try:
        queue.put(str((x + 1).sum().item()))
    except RuntimeError as error:
        queue.put(str(error))

context = torch.multiprocessing.get_context("fork")
queue = context.SimpleQueue()
process = context.Process(target=work, args=(queue,))
process.start()
print(queue.get())
process.join()
assert process.exitcode == 0
"""
    assert "'spawn'" in output(code, DL_VENDORS=vendor)


@pytest.mark.parametrize("pin", [False, True])
def test_data_loader_forks_workers_while_the_device_is_in_use(vendor: str, pin: bool) -> None:
    code = f"""{USE}
data = torch.utils.data.TensorDataset(torch.arange(64.0).view(16, 4))
loader = torch.utils.data.DataLoader(
    data, batch_size=4, num_workers=2, multiprocessing_context="fork", pin_memory={pin}
)
total = 0.0
for _ in range(2):
    for (batch,) in loader:
        assert batch.is_pinned() == {pin} and batch.device.type == "cpu"
        moved = batch.to("dl", non_blocking=True)
        model(moved).sum().backward()
        total += moved.sum().item()
print(total)
{AFTER_BACKWARD}"""
    assert output(code, DL_VENDORS=vendor) == str(2.0 * sum(range(64)))


def test_workers_that_touch_the_device_fail_with_the_remedy(vendor: str) -> None:
    code = f"""{USE}
class Data(torch.utils.data.Dataset):
    def __len__(self):
        return 4
    def __getitem__(self, index):
        return x[index] + 1

loader = torch.utils.data.DataLoader(Data(), num_workers=1, multiprocessing_context="fork")
try:
    list(loader)
except RuntimeError as error:
    print(error)
"""
    assert "'spawn'" in output(code, DL_VENDORS=vendor)


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_remedy_works(vendor: str, method: str, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(f"""
import torch

def work(queue):
    queue.put((torch.ones(1 << 20, device="dl") + 1).sum().item())

if __name__ == "__main__":
    assert (torch.ones(1 << 20, device="dl") + 1).sum().item() == 2 << 20
    context = torch.multiprocessing.get_context("{method}")
    queue = context.SimpleQueue()
    process = context.Process(target=work, args=(queue,))
    process.start()
    print(queue.get())
    process.join()
    assert process.exitcode == 0
""")
    assert output(script, DL_VENDORS=vendor) == str(float(2 << 20))

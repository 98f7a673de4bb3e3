"""Order of the registration steps, with a fake compiled part.

The fake records calls; integration tests cover the real one.
"""

from __future__ import annotations

import json

from stub_wheels import Wheels

PRELUDE = """
    import json, os, sys, types
    os.environ["TORCH_DEVICE_BACKEND_AUTOLOAD"] = "0"
    import torch
    import dl_core
    from dl_core import config, selection
    from dl_core.plugin_record import PluginRecord
    from pathlib import Path
    from diopi_proto.descriptor import VendorDescriptor

    calls = []
    counts = {"none": 0, "one": 1, "two": 2}

    def load_vendor(name, library, legacy, adaptor):
        calls.append(["load", name])
        if name == "broken":
            raise RuntimeError("bad library")
        return {"index": len(calls) - 1, "device_count": counts[name]}

    fake = types.ModuleType("dl_core._C")
    fake.TORCH_VERSION = torch.__version__
    fake.load_vendor = load_vendor
    fake.set_visible_devices = lambda devices: calls.append(["visible", [list(d) for d in devices]])
    fake.activate = lambda: calls.append(["activate"])
    fake.set_fallback_mode = lambda mode: calls.append(["fallback", mode])
    fake.set_legacy_runtime = lambda path: calls.append(["runtime"])
    fake.device_count = lambda: 1
    fake.native_operators = lambda index: ["add.Tensor", "add.out", "mul.Tensor"]
    fake.operator_forms = lambda: {}
    fake.disable_native = lambda names: calls.append(["disable", names])
    sys.modules["dl_core._C"] = fake
    dl_core._C = fake

    def go(order, first_only=True, legacy=(), untried="", **settings):
        from contextlib import nullcontext
        from dl_core.torch_backend import registration
        registration.admitted = lambda library, legacy, timeout: nullcontext(untried)
        vendors = {n: VendorDescriptor(n, Path("/lib.so"), "1", legacy=n in legacy) for n in order}
        records = {n: PluginRecord(n, f"dl-vendor-{n}", "1", "m") for n in order}
        plan = selection.Plan(tuple(order), first_only, ())
        done = registration.register(plan, vendors, records, config.Config(**settings))
        print(json.dumps({
            "calls": calls, "active": done.active, "problems": list(done.problems),
            "name": torch._C._get_privateuse1_backend_name(), "module": hasattr(torch, "dl"),
            "autocast": str(torch.get_autocast_dtype("dl")) if done.active else None,
            "methods": hasattr(torch.Tensor, "is_dl") and hasattr(torch.nn.Module, "dl"),
        }))
"""


def go(wheels: Wheels, call: str) -> dict:
    done = wheels.run(PRELUDE + f"\n    {call}\n")
    assert done.returncode == 0, done.stderr
    found: dict = json.loads(done.stdout)
    return found


def test_without_a_device_torch_is_left_alone(wheels: Wheels) -> None:
    found = go(wheels, "go(['none'])")
    assert found["calls"] == [["load", "none"]]
    assert not found["active"] and found["name"] == "privateuseone" and not found["module"]


def test_the_first_vendor_with_a_device_ends_the_search(wheels: Wheels) -> None:
    found = go(wheels, "go(['none', 'two', 'one'])")
    assert found["calls"] == [
        ["load", "none"],
        ["load", "two"],
        ["visible", [[1, 0], [1, 1]]],
        ["activate"],
        ["fallback", "allow"],
    ]
    assert found["active"] and found["name"] == "dl" and found["module"] and found["methods"]
    assert found["autocast"] == "torch.bfloat16"


def test_a_broken_vendor_is_reported_and_the_next_is_used(wheels: Wheels) -> None:
    found = go(wheels, "go(['broken', 'one'])")
    assert found["active"]
    (problem,) = found["problems"]
    for part in ("'broken'", "bad library", "pip install --force-reinstall dl-vendor-broken"):
        assert part in problem


def test_a_vendor_that_could_not_be_tried_is_reported(wheels: Wheels) -> None:
    found = go(wheels, "go(['one'], untried='no processes are left')")
    (problem,) = found["problems"]
    assert found["active"] and "dl-vendor-one" in problem and "DL_DISABLE=one" in problem
    assert "no processes are left" in problem


def test_requested_vendors_are_all_visible_in_that_order(wheels: Wheels) -> None:
    found = go(wheels, "go(['one', 'two'], first_only=False)")
    assert ["visible", [[0, 0], [1, 0], [1, 1]]] in found["calls"]


def test_settings_reach_the_compiled_part(wheels: Wheels) -> None:
    found = go(wheels, "go(['one'], fallback='error', force_fallback=('add.*',))")
    assert found["calls"][-2:] == [["fallback", "error"], ["disable", ["add.Tensor", "add.out"]]]


def test_only_a_legacy_library_gets_the_legacy_runtime(wheels: Wheels) -> None:
    found = go(wheels, "go(['none', 'one'], legacy=('one',))")
    assert found["calls"][:3] == [["load", "none"], ["runtime"], ["load", "one"]]


def test_a_second_backend_is_refused_before_anything_is_loaded(wheels: Wheels) -> None:
    found = go(wheels, "torch.utils.rename_privateuse1_backend('npu'); go(['one'])")
    assert found["calls"] == [] and not found["active"] and found["name"] == "npu"
    (problem,) = found["problems"]
    assert "'npu'" in problem


def test_a_compiled_part_for_another_torch_is_refused(wheels: Wheels) -> None:
    found = go(wheels, "fake.TORCH_VERSION = '1.0.0'; go(['one'])")
    assert found["calls"] == [] and "1.0.0" in found["problems"][0]

from pathlib import Path

from dl_core import selection
from dl_core.selection import Candidate, plan, settle

CPU = Candidate("cpu", 0, accelerator=False)
CUDA = Candidate("cuda", 100, accelerator=True, present=True)
OPENCL = Candidate("opencl", 10, accelerator=True, present=True)
ABSENT = Candidate("rocm", 200, accelerator=True, present=False)


def chosen(candidates, counts, requested=None, torch_gpu=None):
    made = plan(candidates, requested, torch_gpu)
    # Like the loader, stop at the first vendor with a device if the plan says so.
    seen = {}
    for name in made.order:
        if name in counts:
            seen[name] = counts[name]
        if made.first_only and seen.get(name):
            break
    return settle(made, seen), made


def test_the_reference_is_used_where_no_accelerator_is_installed() -> None:
    choice, _ = chosen([CPU], {"cpu": 1})
    assert choice.devices == (("cpu", 0),)


def test_the_highest_priority_comes_first() -> None:
    choice, _ = chosen([CPU, OPENCL, CUDA], {"cpu": 1, "opencl": 1, "cuda": 2})
    assert choice.devices == (("cuda", 0), ("cuda", 1))
    assert any("opencl stays out because cuda" in reason for reason in choice.reasons)


def test_equal_priorities_go_by_name() -> None:
    twins = [Candidate("b", 5, True), Candidate("a", 5, True)]
    assert plan(twins, None, None).order == ("a", "b")
    assert plan(twins[::-1], None, None).order == ("a", "b")


def test_an_accelerator_without_device_gives_way_to_the_next() -> None:
    choice, _ = chosen([CUDA, OPENCL], {"cuda": 0, "opencl": 1})
    assert choice.devices == (("opencl", 0),)


def test_a_broken_accelerator_gives_way_to_the_next() -> None:
    choice, _ = chosen([CUDA, OPENCL], {"opencl": 1})
    assert choice.devices == (("opencl", 0),)
    assert "cuda could not be loaded." in choice.reasons


def test_the_reference_never_replaces_an_installed_accelerator() -> None:
    choice, made = chosen([CPU, CUDA], {"cpu": 1, "cuda": 0})
    assert choice.devices == ()
    assert any("DL_VENDORS=cpu" in reason for reason in made.reasons)


def test_absent_vendors_are_not_even_loaded() -> None:
    made = plan([ABSENT, CPU], None, None)
    assert made.order == ()
    assert "rocm is installed but reports no device." in made.reasons


def test_an_accelerator_with_priority_below_the_reference_still_comes_first() -> None:
    odd = Candidate("odd", -1, accelerator=True)
    assert plan([CPU, odd], None, None).order == ("odd",)


def test_requested_vendors_are_all_visible_in_that_order() -> None:
    choice, _ = chosen([CPU, CUDA, OPENCL], {"cpu": 1, "cuda": 2}, requested=("cpu", "cuda"))
    assert choice.devices == (("cpu", 0), ("cuda", 0), ("cuda", 1))


def test_an_unknown_name_is_one_problem_that_lists_the_known() -> None:
    made = plan([CPU, CUDA], ("cuda", "npu", "tpu"), None)
    assert made.order == ("cuda",)
    (problem,) = made.problems
    assert "npu, tpu" in problem and "Known vendors: cuda, cpu" in problem


def test_a_known_name_is_no_problem() -> None:
    assert plan([CPU, CUDA], ("cuda",), None).problems == ()


def test_a_requested_vendor_is_loaded_though_it_reports_no_device() -> None:
    choice, made = chosen([ABSENT], {"rocm": 0}, requested=("rocm",))
    assert made.order == ("rocm",)
    (problem,) = choice.problems
    assert "DL_VENDORS asks for rocm" in problem


def test_beside_a_gpu_of_torch_only_a_request_turns_dl_on() -> None:
    gpu = "torch has a GPU"
    assert plan([CUDA], None, gpu).order == ()
    assert any(gpu in reason for reason in plan([CUDA], None, gpu).reasons)
    assert plan([CUDA], ("cuda",), gpu).order == ("cuda",)


def test_a_missing_vendor_is_reported() -> None:
    assert plan([], None, None).reasons == ("No vendor is installed.",)


def test_there_are_as_many_places_as_in_the_compiled_part() -> None:
    header = Path(__file__).parents[2] / "csrc" / "contract" / "device_indices.h"
    assert f"kMaxDevices = {selection.MOST_DEVICES};" in header.read_text()


def test_a_vendor_with_a_thousand_devices_leaves_room_for_the_others() -> None:
    counts = {"cpu": 1, "cuda": 1000, "opencl": 30}
    choice, _ = chosen([CPU, CUDA, OPENCL], counts, requested=("cuda", "cpu", "opencl"))
    shown = [name for name, _ in choice.devices]
    assert len(shown) == selection.MOST_DEVICES and shown.count("cpu") == 1
    assert shown.count("opencl") == 30 and choice.devices[:2] == (("cuda", 0), ("cuda", 1))
    (problem,) = choice.problems
    assert "cuda has 1000 devices, of which only the first 33 are visible" in problem


def test_vendors_that_are_all_too_big_share_alike() -> None:
    counts = {"cuda": 1000, "opencl": 64}
    choice, _ = chosen([CUDA, OPENCL], counts, requested=("cuda", "opencl"))
    assert [name for name, _ in choice.devices] == ["cuda"] * 32 + ["opencl"] * 32
    assert len(choice.problems) == 2


def test_as_many_devices_as_there_is_room_for_are_no_problem() -> None:
    choice, _ = chosen([CUDA], {"cuda": selection.MOST_DEVICES})
    assert len(choice.devices) == selection.MOST_DEVICES and choice.problems == ()

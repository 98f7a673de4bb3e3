from __future__ import annotations

import sys
from dataclasses import fields
from pathlib import Path

import pytest
from stub_wheels import Wheels, foreign_plugins

from diopi_proto.descriptor import VendorDescriptor
from dl_core.manager import PluginManager
from dl_core.plugin_record import PluginRecord

GOOD = """
    import pluggy
    hookimpl = pluggy.HookimplMarker("dl")

    @hookimpl
    def dl_cli_commands():
        return []
"""


# Called before a test adds its own plugins.
FOREIGN = foreign_plugins()


def load(*disable: str) -> PluginManager:
    manager = PluginManager([*disable, *FOREIGN])
    manager.load()
    return manager


def own(manager: PluginManager) -> list[PluginRecord]:
    return [record for record in manager.records if record.name not in FOREIGN]


def test_a_plugin_is_found_with_its_wheel(on_path: Wheels) -> None:
    module = on_path.add("dl-tool", GOOD, name="tool", version="3.4")
    (record,) = own(load())
    assert (record.name, record.wheel, record.module) == ("tool", "dl-tool 3.4", module)
    assert record.status == "loaded" and record.problem is None and record.milliseconds > 0


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("import no_such_module_at_all", "no_such_module_at_all"),
        ("raise SystemExit(3)", "SystemExit: 3"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt."),
        ("raise GeneratorExit", "GeneratorExit."),
        ("raise ValueError('odd')", "ValueError: odd"),
        ("def broken(:", "SyntaxError"),
    ],
)
def test_whatever_a_plugin_raises_is_recorded_and_the_others_go_on(
    on_path: Wheels, source: str, said: str
) -> None:
    on_path.add("dl-bad", source, name="bad")
    on_path.add("dl-zgood", GOOD, name="zgood")
    bad, good = own(load())
    assert bad.status == "failed" and good.status == "loaded"
    assert said in bad.problem and "dl-bad 1.2" in bad.problem and "pip install" in bad.problem


def test_keyboard_interrupt_is_not_swallowed(on_path: Wheels) -> None:
    on_path.add("dl-slow", "import signal; signal.raise_signal(signal.SIGINT)", name="slow")
    with pytest.raises(KeyboardInterrupt):
        load()


def test_a_missing_module_is_recorded(on_path: Wheels) -> None:
    on_path.add_metadata("dl-gone", "1", "[dl]\ngone = no_such_plugin_module\n")
    (record,) = own(load())
    assert record.status == "failed" and "cannot be imported" in record.error


def test_a_hook_with_other_arguments_is_refused_whole(on_path: Wheels) -> None:
    on_path.add_vendor("dl-vendor-a", name="a")
    on_path.add(
        "dl-b",
        """
        import pluggy
        hookimpl = pluggy.HookimplMarker("dl")

        @hookimpl
        def dl_cli_commands():
            raise AssertionError("a refused plugin is not called")

        @hookimpl
        def dl_vendor(driver):
            raise AssertionError("a refused plugin is not called")
        """,
        name="b",
    )
    manager = load()
    _, refused = own(manager)
    assert refused.status == "failed" and "driver" in refused.error
    assert manager.call("dl_cli_commands") == []
    assert [descriptor.name for _, descriptor in manager.vendors()] == ["a"]


def test_an_unknown_hook_is_reported_and_the_known_ones_work(on_path: Wheels) -> None:
    on_path.add(
        "dl-new",
        GOOD + "\n    @hookimpl\n    def dl_from_the_future():\n        return 1\n",
        name="new",
    )
    manager = load()
    (record,) = own(manager)
    assert record.status == "partial" and "dl_from_the_future" in record.problem
    assert [answer for _, answer in manager.call("dl_cli_commands")] == [[]]


def test_an_optional_unknown_hook_is_fine(on_path: Wheels) -> None:
    source = (
        GOOD
        + "\n    @hookimpl(optionalhook=True)\n    def dl_from_the_future():\n        return 1\n"
    )
    on_path.add("dl-new", source, name="new")
    (record,) = own(load())
    assert record.status == "loaded"


def test_of_two_plugins_with_one_name_the_wheel_named_after_it_is_used(on_path: Wheels) -> None:
    on_path.add_vendor("aaa-squatter", name="x", library="Path('/squatter')")
    on_path.add_vendor("dl-vendor-x", name="x", library="Path('/own')")
    manager = load()
    used, left_out = own(manager)
    assert (used.distribution, used.status) == ("dl-vendor-x", "loaded")
    assert (left_out.distribution, left_out.status) == ("aaa-squatter", "shadowed")
    (problem,) = manager.problems
    for part in ("aaa-squatter 1.2", "dl-vendor-x 1.2", "pip uninstall aaa-squatter", "'x'"):
        assert part in problem
    ((_, descriptor),) = manager.vendors()
    assert str(descriptor.library) == "/own"


@pytest.mark.parametrize("order", [("beta-w", "alpha-w"), ("alpha-w", "beta-w")])
def test_of_two_strangers_with_one_name_the_alphabet_decides(
    on_path: Wheels, order: tuple[str, str]
) -> None:
    for distribution in order:
        on_path.add(distribution, GOOD, name="tool")
    used, left_out = own(load())
    assert (used.distribution, left_out.distribution) == ("alpha-w", "beta-w")


def test_two_plugins_with_one_vendor_name_are_one_problem(on_path: Wheels) -> None:
    on_path.add_vendor("dl-vendor-x", name="x", plugin="x")
    on_path.add_vendor("other-x", name="x", plugin="other")
    manager = load()
    ((record, _),) = manager.vendors()
    assert record.distribution == "dl-vendor-x"
    (problem,) = manager.problems
    assert "the vendor name 'x'" in problem and "other-x 1.2" in problem


def test_a_disabled_plugin_is_not_imported(on_path: Wheels) -> None:
    module = on_path.add("dl-off", "raise AssertionError", name="off")
    (record,) = own(load("off"))
    assert record.status == "disabled" and record.problem is None and module not in sys.modules
    (record,) = own(load("all"))
    assert record.status == "disabled"


def test_a_vendor_hook_that_raises_does_not_stop_other_vendors(on_path: Wheels) -> None:
    on_path.add(
        "dl-vendor-bad",
        """
        import pluggy

        @pluggy.HookimplMarker("dl")
        def dl_vendor():
            raise OSError("no such file")
        """,
        name="bad",
    )
    on_path.add_vendor("dl-vendor-good", name="good")
    manager = load()
    assert [descriptor.name for _, descriptor in manager.vendors()] == ["good"]
    (problem,) = manager.problems
    assert "OSError: no such file" in problem


@pytest.mark.parametrize("answer", ["'libvendor.so'", "VendorDescriptor('Bad Name', 'x', '1')"])
def test_a_vendor_hook_with_an_invalid_result_is_reported(on_path: Wheels, answer: str) -> None:
    on_path.add(
        "dl-vendor-odd",
        f"""
        import pluggy
        from diopi_proto.descriptor import VendorDescriptor

        @pluggy.HookimplMarker("dl")
        def dl_vendor():
            return {answer}
        """,
        name="odd",
    )
    manager = load()
    assert manager.vendors() == []
    (problem,) = manager.problems
    assert "dl_vendor returned" in problem


def test_every_field_of_a_descriptor_is_kept(on_path: Wheels) -> None:
    path = Path("/nonexistent/libx.so")
    given = {
        "library": path,
        "version": "2.3",
        "priority": 7,
        "accelerator": False,
        "legacy": True,
        "runtime": path,
        "status": "experimental",
        **dict.fromkeys(("present", "simulated", "libraries"), print),
    }
    # A library in DIOPI's own style has no adaptor.
    assert {"name", "adaptor", *given} == {field.name for field in fields(VendorDescriptor)}
    texts = {path: f"Path({str(path)!r})", print: "print"}
    on_path.add_vendor(
        "dl-vendor-x", name="x", **{k: texts.get(v, repr(v)) for k, v in given.items()}
    )
    ((_, descriptor),) = load().vendors()
    assert {name: getattr(descriptor, name) for name in given} == given


def test_a_vendor_hook_may_have_nothing_for_this_platform(on_path: Wheels) -> None:
    on_path.add(
        "dl-vendor-none",
        """
        import pluggy

        @pluggy.HookimplMarker("dl")
        def dl_vendor():
            return None
        """,
        name="none",
    )
    manager = load()
    assert manager.vendors() == [] and manager.problems == []

"""Hooks that return contributions: implementations are found, and one failure does not affect
others."""

from __future__ import annotations

import pytest
from stub_wheels import Wheels, foreign_plugins

from dl_core import hookspecs
from dl_core.manager import PluginManager

HOOKS = [
    "dl_conformance_profiles",
    "dl_graph_engines",
    "dl_graph_patterns",
    "dl_op_tools",
    "dl_tuned_databases",
]

# Called before a test adds its own plugins.
FOREIGN = foreign_plugins()


def load() -> PluginManager:
    manager = PluginManager(FOREIGN)
    manager.load()
    return manager


def source(hook: str, body: str) -> str:
    return f"""
        import pluggy
        from dl_core.contributions import Contribution

        @pluggy.HookimplMarker("dl")
        def {hook}():
            {body}
        """


def one(name: str, value: int = 1) -> str:
    return f"return [Contribution('{name}', 'A stub.', lambda: {value})]"


def test_all_hooks_are_tested_here_or_with_what_they_are_for() -> None:
    declared = {name for name in vars(hookspecs) if name.startswith("dl_")}
    assert declared == {"dl_vendor", "dl_operators", "dl_cli_commands", *HOOKS}
    assert all(getattr(hookspecs, name).__doc__ for name in declared)


@pytest.mark.parametrize("hook", HOOKS)
def test_an_implementation_is_found(on_path: Wheels, hook: str) -> None:
    on_path.add("dl-b", source(hook, one("second", 2)), name="b")
    on_path.add("dl-a", source(hook, one("first")), name="a")
    manager = load()
    found = manager.contributions(hook)
    assert [(record.name, c.name, c.load()) for record, c in found] == [
        ("a", "first", 1),
        ("b", "second", 2),
    ]
    assert manager.problems == []
    others = [other for other in HOOKS if other != hook]
    assert [manager.contributions(other) for other in others] == [[]] * len(others)


@pytest.mark.parametrize("hook", [*HOOKS, "dl_cli_commands"])
def test_one_that_fails_is_one_problem_and_the_others_go_on(on_path: Wheels, hook: str) -> None:
    on_path.add("dl-bad", source(hook, "raise OSError('the disk is gone')"), name="bad")
    on_path.add("dl-good", source(hook, one("good")), name="good")
    manager = load()
    for _ in range(2):
        assert [record.name for record, _ in manager.call(hook)] == ["good"]
    (problem,) = manager.problems
    assert "dl-bad" in problem and "the disk is gone" in problem


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("return 'name'", "not a sequence of Contribution"),
        ("return 3", "not a sequence of Contribution"),
        ("return [('name', 'help', None)]", "which is not a Contribution"),
        (one("Big Name"), "the name 'Big Name'"),
        ("return [Contribution('x', 'A stub.', 3)]", "a `load` that is not callable"),
        ("return [Contribution('x', 'A stub.', int)] * 2", "the name 'x' twice"),
    ],
)
def test_invalid_contributions_are_reported_and_left_out(
    on_path: Wheels, body: str, said: str
) -> None:
    on_path.add("dl-bad", source("dl_op_tools", body), name="bad")
    on_path.add("dl-good", source("dl_op_tools", one("good")), name="good")
    manager = load()
    assert [c.name for _, c in manager.contributions("dl_op_tools")] == ["good"]
    (problem,) = manager.problems
    assert said in problem and "dl_op_tools returned" in problem


ADDED = """
        import pluggy
        from diopi_proto import AddedOperators

        @pluggy.HookimplMarker("dl")
        def dl_operators():
            return [BODY]
        """


def test_added_operators_are_sorted_by_priority_then_by_name(on_path: Wheels) -> None:
    for plugin, body in (
        ("b", "AddedOperators('low', 'cpu', '/libb.so', 1), AddedOperators('x', 'y', '/libb.so')"),
        ("a", "AddedOperators('second', 'cpu', '/liba.so', 2)"),
        ("c", "AddedOperators('first', 'cpu', '/libc.so', 2)"),
    ):
        on_path.add(f"dl-{plugin}", ADDED.replace("BODY", body), name=plugin)
    manager = load()
    found = [(record.name, added.name) for record, added in manager.added_operators()]
    assert found == [("c", "first"), ("a", "second"), ("b", "low"), ("b", "x")]
    assert manager.problems == []


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("3", "returned 3, which is not a diopi_proto.AddedOperators"),
        ("AddedOperators('Big', 'cpu', '/lib.so')", "returned name='Big'"),
        ("AddedOperators('x', 'a b', '/lib.so')", "returned vendor='a b'"),
        ("AddedOperators('x', 'cpu', '/lib.so', 'high')", "returned priority='high'"),
        ("AddedOperators('x', 'cpu', '/lib.so', 10**7)", "returned priority=10000000"),
        ("AddedOperators('x', 'cpu', '/lib.so', present=3)", "returned present=3"),
        ("AddedOperators('x', 'cpu', 3)", "returned library=3, which must be a path"),
        ("AddedOperators('x', 'cpu', 'lib.so')", "lib.so is relative"),
        ("*[AddedOperators('x', 'cpu', '/lib.so')] * 2", "the name 'x' twice for vendor 'cpu'"),
    ],
)
def test_invalid_added_operators_are_reported_and_left_out(
    on_path: Wheels, body: str, said: str
) -> None:
    on_path.add("dl-bad", ADDED.replace("BODY", body), name="bad")
    on_path.add(
        "dl-good", ADDED.replace("BODY", "AddedOperators('g', 'cpu', '/g.so')"), name="good"
    )
    manager = load()
    assert [added.name for _, added in manager.added_operators()] == ["g"]
    (problem,) = manager.problems
    assert said in problem


def test_a_name_belongs_to_one_plugin_which_may_have_others(on_path: Wheels) -> None:
    two = "return [Contribution(n, 'A stub.', lambda: 2) for n in ('mine', 'fast')]"
    on_path.add("dl-aaa", source("dl_graph_engines", two), name="aaa")
    on_path.add("dl-fast", source("dl_graph_engines", one("fast")), name="fast")
    manager = load()
    found = manager.contributions("dl_graph_engines")
    assert [(record.name, c.name) for record, c in found] == [("fast", "fast"), ("aaa", "mine")]
    (problem,) = manager.problems
    assert "the name 'fast' in dl_graph_engines is also claimed by dl-fast 1.2" in problem
    # The losing plugin is still called.
    assert len(manager.contributions("dl_graph_engines")) == 2


def test_no_plugin_is_nothing() -> None:
    manager = load()
    assert [manager.contributions(hook) for hook in HOOKS] == [[]] * len(HOOKS)

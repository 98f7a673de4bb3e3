"""Automatic start of tools in a program: they run from ``import torch`` to its end."""

from __future__ import annotations

import atexit
import multiprocessing
import os
from collections.abc import Mapping
from multiprocessing import util
from typing import Any

from dl_optools import levels
from dl_optools.bisect.name_collector import NameCollector
from dl_optools.bisect.name_list import COLLECTOR
from dl_optools.breadcrumbs.names import BREADCRUMBS
from dl_optools.diagnosis.names import GRAPHS, PROBE
from dl_optools.environment import environment
from dl_optools.features import make_tool
from dl_optools.launching.endings import (
    call_before_exit,
    die_at_sigterm,
    end_by_sigterm,
    unwind_at_sigterm,
)
from dl_optools.launching.launch import (
    DEVICE_VARIABLE,
    ENDED,
    LEVEL_VARIABLE,
    STARTED,
    TOOL_NAMES,
    TOOLS_VARIABLE,
    WRONG_USE,
    tools_of,
)
from dl_optools.launching.notes import VARIABLE as NOTES_VARIABLE
from dl_optools.launching.notes import note
from dl_optools.launching.plugin_tools import PluginTool, PluginTools
from dl_optools.launching.program_threads import ProgramThreads
from dl_optools.launching.reports import note_report
from dl_optools.launching.unmatched import UnmatchedPatterns, note_unmatched
from dl_optools.launching.unseen import UnseenCalls
from dl_optools.outputs import ResultsError
from dl_optools.tool import Tool

_running: list[Tool | PluginTool] = []
_names: dict[Tool | PluginTool, str] = {}
_unseen: list[UnseenCalls] = []
_threads: ProgramThreads | None = None
_process = 0


def start(environ: Mapping[str, str]) -> list[Tool | PluginTool]:
    """Start the tools that ``DL_TOOLS`` names; they stop when the process ends.

    They observe this thread and the threads that :mod:`threading` starts later.

    ``DL_TOOLS_LEVEL`` and ``DL_TOOLS_DEVICE`` are the tools' ``level`` and ``device``. If a tool
    cannot start, that is reported and the program runs without it.

    :raises SystemExit: a tool cannot start, and the program was started by a command that can
        report the reason.
    """
    global _process, _threads
    wanted = environ.get(TOOLS_VARIABLE, "")
    _process = os.getpid()
    options: dict[str, Any] = {
        "level": environ.get(LEVEL_VARIABLE) or None,
        "device": environ.get(DEVICE_VARIABLE) or None,
    }
    makers: list[tuple[str, Any]] = []
    names = [part.strip() for part in wanted.split(",")]
    if COLLECTOR in names:
        names.remove(COLLECTOR)
        makers.append((COLLECTOR, lambda: NameCollector(**options)))
    probes, breadcrumbs = PROBE in names, BREADCRUMBS in names
    graphs = GRAPHS in names
    names = [name for name in names if name not in (PROBE, BREADCRUMBS, GRAPHS)]
    inner = 0
    if any(names):
        own = {x.name for x in TOOL_NAMES} | {x.feature for x in TOOL_NAMES}
        # Other plugins are imported only if one of their tools is requested.
        others = None if own.issuperset(filter(None, names)) else PluginTools()
        wanted_tools = tools_of(",".join(names), others.names() if others else ())
        # Tools that change operators start first, so that all other tools see calls before them.
        inner += sum(each.changes for each in wanted_tools)
        for each in sorted(wanted_tools, key=lambda x: not x.changes):
            if others is not None and not each.home:
                makers.append((each.name, lambda each=each, others=others: others.make(each.name)))
            else:
                makers.append((each.name, lambda each=each: make_tool(each.feature, **options)))
    if probes:
        from dl_optools.diagnosis.probe import OpProbe

        # A tool that starts later sees calls first: other tools see calls that it repeats once.
        makers.insert(0, (PROBE, lambda: OpProbe(**options)))
        inner += 1
    if breadcrumbs:
        from dl_optools.breadcrumbs.recorder import OpBreadcrumbs

        # This tool also records operators that fall back, but not the work of observing tools.
        device = options["device"]
        makers.insert(inner, (BREADCRUMBS, lambda: OpBreadcrumbs(device=device)))
    if graphs:
        from dl_optools.diagnosis.graph_check import GraphCheck

        makers.append((GRAPHS, lambda: GraphCheck(device=options["device"])))
    for name, make in makers:
        try:
            tool = make()
            # The command that started the program reports it for all of its processes.
            tool.says_unmatched = False
            tool.reports = bool(environ.get(NOTES_VARIABLE))
            _names[tool] = name
            _running.append(tool.start())
        except Exception as error:  # noqa: BLE001 - the program has to run
            if name == BREADCRUMBS:
                # Without this tool, only the name of a crashing operator is missing.
                continue
            note(environ, f"{name} does not run: {error}")
            if environ.get(NOTES_VARIABLE):
                stop()
                raise SystemExit(WRONG_USE) from None
        else:
            note(environ, f"{STARTED}{name}, process {os.getpid()}")
    if multiprocessing.parent_process() is None:
        atexit.register(end_by_sigterm)
        atexit.register(stop)
    else:
        # Processes of multiprocessing end without atexit.
        util.Finalize(None, end_by_sigterm, exitpriority=-1)
        util.Finalize(None, stop, exitpriority=0)
    call_before_exit(stop)
    if environ.get(NOTES_VARIABLE):
        unwind_at_sigterm()
    _threads = ProgramThreads(_enter_thread, _tell_unseen)
    _threads.follow()
    os.register_at_fork(after_in_child=_leave_to_parent)
    return list(_running)


def stop() -> None:
    """Stop the tools, the last one first."""
    if os.getpid() != _process:
        _tell_unseen()
        return
    if not _running:
        return
    at_home = _threads is None or _threads.dismiss()
    while _running:
        tool = _running.pop()
        try:
            if at_home or isinstance(tool, PluginTool):
                tool.stop()
            else:
                tool.complete()
        except Exception as error:  # noqa: BLE001 - the other tools have results, too
            known = isinstance(error, ResultsError)
            text = str(error) if known else f"{type(error).__name__}: {error}"
            note(environment(), f"{_names[tool]} failed at its end: {text}")
        if isinstance(tool, PluginTool):
            continue
        for text in tool.left_out:
            note(environment(), f"{_names[tool]}: {text}")
        if tool.reports and (found := tool.report()) is not None:
            note_report(environment(), _names[tool], found)
        selection = tool.selection
        if selection.asked:
            patterns = tool.unmatched()
            everything = len(patterns) == len(selection.include)
            note_unmatched(environment(), UnmatchedPatterns(_names[tool], patterns, everything))
        else:
            note_unmatched(environment(), UnmatchedPatterns(_names[tool], {}, True, asked=False))
    if environment().get(NOTES_VARIABLE):
        note(environment(), f"{ENDED}process {os.getpid()}")


def _enter_thread() -> None:
    """Enable, in a new thread of the program, the tools that can observe it."""
    blind = []
    for tool in list(_running):
        if isinstance(tool, PluginTool):
            continue
        if tool.every_thread:
            tool.enter()
        elif tool.observes:
            blind.append(tool)
    _count_unseen("thread", blind)


def _leave_to_parent() -> None:
    """Detach observing tools in a forked child, which has no threads to write results."""
    die_at_sigterm()
    if _threads is not None:
        _threads.let_be()
    observing = [x for x in _running if not isinstance(x, PluginTool) and x.observes]
    for tool in observing:
        tool.let_be()
    # Tools that change operators continue in the child.
    blind = [x for x in observing if _names[x] != BREADCRUMBS]
    _running.clear()
    _unseen.clear()
    _count_unseen("forked process", blind)


def _count_unseen(where: str, blind: list[Tool]) -> None:
    """Count the calls that these tools do not see from now on, if a command reports them."""
    if not blind or not environment().get(NOTES_VARIABLE):
        return
    counter = UnseenCalls(where, [_names[x] for x in blind], device=blind[0].device)
    levels.add(counter, counter.level)
    _unseen.append(counter)


def _tell_unseen() -> None:
    for counter in _unseen:
        counter.tell()

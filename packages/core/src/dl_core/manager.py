"""Plugin manager: finds plugins, imports them one by one, and records the result of each.

An exception of a plugin never propagates: it is stored in its :class:`PluginRecord`.
"""

from __future__ import annotations

import functools
import importlib.metadata
import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import pluggy

from diopi_proto.descriptor import AddedOperators, VendorDescriptor
from diopi_proto.text import printable
from dl_core import hookspecs
from dl_core.config import ALL, Config, read
from dl_core.contributions import Contribution, validate_contributions
from dl_core.descriptors import validate, validate_added
from dl_core.entry_points import Declared, read_entry_points
from dl_core.environment import environment
from dl_core.errors import UntrustedError, describe_error, type_name
from dl_core.import_path import TrustedPath
from dl_core.module_trust import why_module_untrusted
from dl_core.plugin_deadline import PluginDeadline, PluginTimeoutError
from dl_core.plugin_record import (
    Failure,
    PluginRecord,
    describe_changes,
    describe_failure,
    describe_hang,
)
from dl_core.process_state import ProcessState

TIMEOUT = Config().probe_timeout
"""Deadline in seconds unless ``DL_PROBE_TIMEOUT`` is set."""
_LONGEST = 400
"""Maximum number of characters of a plugin's text."""


def _normalized(distribution: str) -> str:
    return re.sub(r"[-_.]+", "-", distribution).lower()


def _claim_order(name: str, distribution: str) -> tuple[bool, str]:
    """Return the sort key for wheels that claim a name. The wheel that is named after it comes
    first, so that no other wheel can replace it; otherwise alphabetical order makes all processes
    agree."""
    normalized = _normalized(distribution)
    return normalized not in (f"dl-vendor-{name}", f"dl-{name}"), normalized


def _printable(text: object) -> str:
    return printable(str(text), _LONGEST)


class PluginManager:
    """The plugins of one process.

    >>> manager = PluginManager()
    >>> manager.load()
    >>> [record.problem for record in manager.records if record.problem]
    []
    """

    def __init__(
        self,
        disable: Sequence[str] = (),
        seconds: float = TIMEOUT,
        *,
        failing: Mapping[str, str] = MappingProxyType({}),
        before: Callable[[str], None] = lambda name: None,
        strict: bool = False,
    ) -> None:
        """
        :param disable: names of plugins that are ignored.
        :param seconds: deadline for one call into a plugin.
        :param failing: plugins that are known to hang or crash, each with the reason.
        :param before: called with the name of a plugin before its code runs.
        :param strict: also undo replacements of standard library functions by plugins.
        """
        self.records: list[PluginRecord] = []
        self._disable = frozenset(disable)
        self._failing = failing
        self._before = before
        self._strict = strict
        self._deadline = PluginDeadline(seconds)
        self._path = TrustedPath()
        self._pluggy = pluggy.PluginManager(hookspecs.PROJECT)
        self._pluggy.add_hookspecs(hookspecs)

    @classmethod
    def of_environment(cls, *, strict: bool = False) -> PluginManager:
        """Return a manager with the settings of this process; its plugins are not loaded yet."""
        settings = read(environment())
        return cls(settings.disable, settings.probe_timeout, strict=strict)

    def load(self) -> None:
        """Import and register every plugin of this environment. Call it once; never raises."""
        claims: dict[str, list[tuple[PluginRecord, importlib.metadata.EntryPoint]]] = {}
        with self._path as path, self._deadline:
            for found in read_entry_points(path):
                record = self._record(found)
                if found.entry is not None:
                    claims.setdefault(record.name, []).append((record, found.entry))
            self._load_winners(claims)
        self._tell_refused(self._path.refused)

    def _disabled(self, record: PluginRecord) -> bool:
        return record.name in self._disable or ALL in self._disable

    def _record(self, found: Declared) -> PluginRecord:
        record = PluginRecord(found.name, found.distribution, found.version, found.value)
        if found.entry is None and not self._disabled(record):
            record.mark(
                "failed",
                found.error,
                f"Install it again: `pip install --force-reinstall {found.distribution}`.",
            )
            self.records.append(record)
        return record

    def _load_winners(
        self, claims: dict[str, list[tuple[PluginRecord, importlib.metadata.EntryPoint]]]
    ) -> None:
        for name in sorted(claims):
            ordered = sorted(
                claims[name], key=lambda claim: _claim_order(name, claim[0].distribution)
            )
            winner, entry = ordered[0]
            self.records += [record for record, _ in ordered]
            for loser, _ in ordered[1:]:
                self._shadow(loser, winner, f"the plugin name {name!r}")
            self._load_one(winner, entry)

    def _tell_refused(self, refused: Mapping[str, str]) -> None:
        """Report plugins in untrusted folders, unless they are installed in a trusted
        folder too."""
        known = {(record.distribution, record.name) for record in self.records}
        for folder, reason in refused.items():
            for found in read_entry_points([folder]):
                record = PluginRecord(found.name, found.distribution, found.version, found.value)
                if (record.distribution, record.name) in known or self._disabled(record):
                    continue
                record.mark(
                    "untrusted",
                    f"it is not imported from {folder}: {reason}.",
                    f"If it is yours, install it; if not, remove it. "
                    f"DL_DISABLE={record.name} silences this.",
                )
                self.records.append(record)

    @staticmethod
    def _shadow(loser: PluginRecord, winner: PluginRecord, what: str) -> None:
        loser.mark(
            "shadowed",
            f"{what} is also claimed by {winner.wheel}, which is used.",
            f"Uninstall one of the two wheels: `pip uninstall {loser.distribution}` or "
            f"`pip uninstall {winner.distribution}`.",
        )

    def _load_one(self, record: PluginRecord, entry: importlib.metadata.EntryPoint) -> None:
        if self._disabled(record):
            record.status = "disabled"
            return
        if record.name in self._failing:
            record.mark(*describe_hang(record, self._failing[record.name]))
            return
        start = time.perf_counter()
        self._guarded(record, lambda: self._register(record, entry))
        record.milliseconds = (time.perf_counter() - start) * 1e3

    def _guarded(self, record: PluginRecord, action: Callable[[], Any], doing: str = "") -> Any:
        """Run ``action``, which calls the plugin; on an error mark the plugin and return None.

        :param doing: beginning of the sentence about the failed action.
        """
        self._before(record.name)
        answer: Any = None
        failure: Failure | None
        state = ProcessState(strict=self._strict)
        try:
            with self._deadline, state:
                answer, failure = self._deadline.run(
                    f"plugin {record.name!r} of {record.wheel}",
                    lambda: self._attempt(record, action, doing),
                )
        except PluginTimeoutError as error:
            failure = describe_hang(record, f"{doing} {error}".lstrip())
        if failure is not None:
            record.mark(*failure)
            self._forget(record)
        elif state.changes:
            record.mark(*describe_changes(record, state.changes))
        return answer

    def _attempt(
        self, record: PluginRecord, action: Callable[[], Any], doing: str
    ) -> tuple[Any, Failure | None]:
        """Return the result of ``action``, or the description of its error.

        The message of an error is computed by the plugin's code too, and that may not end.
        """
        try:
            return action(), None
        except BaseException as error:
            # A plugin may also raise SystemExit or KeyboardInterrupt.
            if isinstance(error, KeyboardInterrupt) and self._deadline.interrupted:
                raise
            return None, self._describe(record, error, doing)

    def _describe(self, record: PluginRecord, error: BaseException, doing: str) -> Failure:
        try:
            return describe_failure(record, error, doing, describe_error(error))
        except KeyboardInterrupt:
            # A signal has raised it, or the error's own text has.
            if self._deadline.interrupted:
                raise
            text = f"{type_name(error)}, which cannot be shown"
            return describe_failure(record, error, doing, text)

    def _register(self, record: PluginRecord, entry: importlib.metadata.EntryPoint) -> None:
        if reason := why_module_untrusted(entry.module):
            raise UntrustedError(f"{entry.module} is not imported: {reason}")
        self._pluggy.register(entry.load(), record.name)
        unknown = sorted(self._unknown_hooks(record))
        if unknown:
            known = sorted(name for name in vars(hookspecs) if name.startswith("dl_"))
            record.mark(
                "partial",
                f"it implements {', '.join(unknown)}; this dl-core knows only {', '.join(known)}.",
                "Unless the name is misspelt, it needs a later dl-core: `pip install -U dl-core`.",
            )

    def _unknown_hooks(self, record: PluginRecord) -> Iterable[str]:
        plugin = self._pluggy.get_plugin(record.name)
        for caller in self._pluggy.get_hookcallers(plugin) or ():
            mine = [impl for impl in caller.get_hookimpls() if impl.plugin is plugin]
            if not caller.has_spec() and not all(impl.optionalhook for impl in mine):
                yield caller.name

    def _forget(self, record: PluginRecord) -> None:
        # A plugin whose second hook is rejected is still registered with its first one.
        if self._pluggy.has_plugin(record.name):
            self._pluggy.unregister(name=record.name)

    def call(self, hook: str) -> list[tuple[PluginRecord, Any]]:
        """Call ``hook``, which takes no arguments, in every plugin that has it, sorted by name.

        Unlike pluggy's own call, an exception in one plugin does not stop other plugins.
        """
        # A plugin that lost one name to another wheel still has its other names.
        shadowed = {r.name: r for r in reversed(self.records) if r.status == "shadowed"}
        by_name = shadowed | {r.name: r for r in self.records if r.status in ("loaded", "partial")}
        answers = []
        with self._path, self._deadline:
            for implementation in list(getattr(self._pluggy.hook, hook).get_hookimpls()):
                record = by_name[implementation.plugin_name]
                answer = self._guarded(record, implementation.function)
                if answer is not None:
                    answers.append((record, answer))
        return sorted(answers, key=lambda pair: pair[0].name)

    def vendors(self) -> list[tuple[PluginRecord, VendorDescriptor]]:
        """Return the vendors of all plugins; each name once."""
        claims: dict[str, list[tuple[PluginRecord, VendorDescriptor]]] = {}
        for record, answer in self.call("dl_vendor"):
            descriptor = self._guarded(record, functools.partial(validate, answer))
            if descriptor is not None:
                claims.setdefault(descriptor.name, []).append((record, descriptor))
        chosen = []
        for name, claimants in sorted(claims.items()):
            ordered = sorted(claimants, key=lambda claim: _claim_order(name, claim[0].distribution))
            chosen.append(ordered[0])
            for loser, _ in ordered[1:]:
                self._shadow(loser, ordered[0][0], f"the vendor name {name!r}")
        return chosen

    def added_operators(self) -> list[tuple[PluginRecord, AddedOperators]]:
        """Return the operators that plugins add to vendors, in the order in which they are called:
        by priority, then by name."""
        found: list[tuple[PluginRecord, AddedOperators]] = []
        for record, answer in self.call("dl_operators"):
            check = functools.partial(validate_added, answer)
            found += [(record, one) for one in self._guarded(record, check) or ()]
        return sorted(found, key=lambda pair: (-pair[1].priority, pair[1].name, pair[0].name))

    def contributions(self, hook: str) -> list[tuple[PluginRecord, Contribution]]:
        """Return the contributions of all plugins to a hook, sorted by name; each name once.

        A plugin whose hook fails or returns an invalid value adds nothing, and has one problem.
        """
        claims: dict[str, list[tuple[PluginRecord, Contribution]]] = {}
        for record, answer in self.call(hook):
            check = functools.partial(validate_contributions, hook, answer)
            for contribution in self._guarded(record, check) or ():
                claims.setdefault(contribution.name, []).append((record, contribution))
        chosen = []
        for name, claimants in sorted(claims.items()):
            ordered = sorted(claimants, key=lambda claim: _claim_order(name, claim[0].distribution))
            chosen.append(ordered[0])
            for loser, _ in ordered[1:]:
                self._shadow(loser, ordered[0][0], f"the name {name!r} in {hook}")
        return chosen

    def present(
        self, record: PluginRecord, descriptor: VendorDescriptor | AddedOperators
    ) -> bool | None:
        """Return the result of a presence check; None if there is no check. An error counts as
        False."""
        ask = descriptor.present
        if ask is None:
            return None
        return self._guarded(record, lambda: bool(ask()), "its presence check failed with") or False

    def libraries(self, record: PluginRecord, descriptor: VendorDescriptor) -> dict[str, str]:
        """Return the optional libraries that a vendor's plugin reports, or why it cannot."""
        ask = descriptor.libraries
        if ask is None:
            return {}

        def answer() -> dict[str, str]:
            try:
                return {_printable(name): _printable(text) for name, text in dict(ask()).items()}
            except Exception as error:  # noqa: BLE001 - a plugin's code may raise anything
                return {"unknown": _printable(f"its plugin failed: {describe_error(error)}")}

        return self._guarded(record, answer, "its list of libraries failed with") or {}

    @property
    def problems(self) -> list[str]:
        """Return one paragraph for each plugin with an error."""
        return [problem for record in self.records if (problem := record.problem) is not None]

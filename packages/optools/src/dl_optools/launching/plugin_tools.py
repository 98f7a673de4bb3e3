"""Tools that plugins of dl add to those of this package, by the hook ``dl_op_tools``.

Imports no torch: that is for the tool itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dl_core.contributions import Contribution
from dl_core.manager import PluginManager
from dl_optools.launching.launch import TOOL_NAMES, ToolName

if TYPE_CHECKING:
    from torch.utils._python_dispatch import TorchDispatchMode


class PluginTools:
    """What the plugins of this process add.

    :ivar problems: a paragraph for each plugin whose tools are not there.
    """

    def __init__(self) -> None:
        manager = PluginManager.of_environment()
        manager.load()
        # Whoever could not even be imported is told of by `dl` itself.
        before = set(manager.problems)
        own = {x.name for x in TOOL_NAMES} | {x.feature for x in TOOL_NAMES}
        self._found: dict[str, Contribution] = {}
        taken = []
        for record, contribution in manager.contributions("dl_op_tools"):
            if contribution.name in own:
                taken.append(
                    f"{record.wheel} wants to add the tool {contribution.name!r}, which is taken"
                )
            else:
                self._found[contribution.name] = contribution
        self.problems = [x for x in manager.problems if x not in before] + taken

    def names(self) -> list[ToolName]:
        """Them, as ``dl tool`` lists them."""
        return [ToolName(x.name, "", "", "", str(x.help)) for x in self._found.values()]

    def make(self, name: str) -> PluginTool:
        """Load one of them.

        :raises LookupError: no plugin of this process has it.
        """
        if name not in self._found:
            told = "; ".join(self.problems)
            raise LookupError(f"no plugin of this process adds it{told and ': '}{told}")
        return PluginTool(self._found[name].load()())


class PluginTool:
    """One of them, while a program runs."""

    says_unmet = False

    def __init__(self, mode: TorchDispatchMode) -> None:
        from torch.utils._python_dispatch import TorchDispatchMode

        if not isinstance(mode, TorchDispatchMode):
            raise TypeError(f"its plugin made {mode!r}, which is no TorchDispatchMode")
        self._mode = mode

    def start(self) -> PluginTool:
        """Enter it, in this thread."""
        self._mode.__enter__()
        return self

    def stop(self) -> None:
        """Leave it."""
        self._mode.__exit__(None, None, None)

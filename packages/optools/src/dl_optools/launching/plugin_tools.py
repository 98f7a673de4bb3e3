"""Tools that plugins of dl add to the tools of this package, by the hook ``dl_op_tools``.

Imports no torch: the tools themselves do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dl_core.contributions import Contribution
from dl_core.manager import PluginManager
from dl_optools.launching.launch import TOOL_NAMES, ToolName

if TYPE_CHECKING:
    from torch.utils._python_dispatch import TorchDispatchMode


class PluginTools:
    """Tools of the plugins in this process.

    :ivar problems: a paragraph for each plugin whose tools are unavailable.
    """

    def __init__(self) -> None:
        manager = PluginManager.of_environment()
        manager.load()
        # Plugins that failed to import are reported by `dl` itself.
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
        """Return their names, as ``dl tool`` lists them."""
        return [ToolName(x.name, "", "", "", str(x.help)) for x in self._found.values()]

    def make(self, name: str) -> PluginTool:
        """Load a plugin's tool.

        :raises LookupError: no plugin of this process has it.
        """
        if name not in self._found:
            problems = "; ".join(self.problems)
            raise LookupError(f"no plugin of this process adds it{problems and ': '}{problems}")
        return PluginTool(self._found[name].load()())


class PluginTool:
    """A plugin's tool while a program runs."""

    says_unmatched = False

    def __init__(self, mode: TorchDispatchMode) -> None:
        from torch.utils._python_dispatch import TorchDispatchMode

        if not isinstance(mode, TorchDispatchMode):
            raise TypeError(f"its plugin returned {mode!r}, which is not a TorchDispatchMode")
        self._mode = mode

    def start(self) -> PluginTool:
        """Enter the mode in this thread."""
        self._mode.__enter__()
        return self

    def stop(self) -> None:
        """Exit the mode."""
        self._mode.__exit__(None, None, None)

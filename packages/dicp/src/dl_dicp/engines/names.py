"""Names of the engines of dl-dicp and of installed plugins."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from dl_core.contributions import Contribution
from dl_core.manager import PluginManager

OWN: Mapping[str, str] = {
    "contract": "dl_dicp.engines.executor:ContractEngine",
    "tiled": "dl_dicp.engines.executor:TiledEngine",
    "codegen": "dl_dicp.engines.codegen.engine:CodegenEngine",
    "capture": "dl_dicp.engines.device_graph.engine:DeviceGraphEngine",
    "inductor": "dl_dicp.engines.inductor.engine:InductorEngine",
}
"""Classes of dl-dicp's engines by name, imported on first use."""
DEFAULT = "tiled"
"""Engine that runs the graphs that another engine does not run."""


@cache
def contributed() -> dict[str, Contribution]:
    """Return the engines of plugins, except engines with the name of an engine of dl-dicp."""
    manager = PluginManager.of_environment()
    manager.load()
    found = manager.contributions("dl_graph_engines")
    return {each.name: each for _, each in found if each.name not in OWN}


def names() -> tuple[str, ...]:
    """Return the values that the option ``engine`` can have."""
    return (*OWN, *sorted(contributed()))


def is_known(name: object) -> bool:
    """Return True if an engine of this name exists; plugins are searched last."""
    return isinstance(name, str) and (name in OWN or name in contributed())

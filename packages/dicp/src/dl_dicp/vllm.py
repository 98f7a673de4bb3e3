"""Compiler for vLLM. Needs vLLM.

A platform plugin selects it if ``get_compile_backend()`` returns ``"dl_dicp.vllm.DlCompiler"``.

vLLM splits a model at its attention calls and compiles the parts, once for all numbers of tokens
and separately for some numbers.
"""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Callable, Sequence
from importlib.metadata import version
from typing import Any

import torch
from torch.fx import GraphModule
from vllm.compilation.compiler_interface import CompilerInterface

from dl_dicp.backend import dl

OPTIONS = "dl"
"""Key of this compiler's options in vLLM's ``inductor_compile_config``."""


class DlCompiler(CompilerInterface):  # type: ignore[misc]  # vLLM need not be installed
    """Compiler of parts of a model, as ``torch.compile(backend="dl")``.

    Its options are a dictionary under the key ``"dl"`` of vLLM's ``inductor_compile_config``;
    Inductor's own options are ignored. Nothing is cached on disk, so a part has no handle from
    which it could be loaded.
    """

    name = "dl"

    def initialize_cache(
        self, cache_dir: str, disable_cache: bool = False, prefix: str = ""
    ) -> None:
        """Do nothing: there is no cache, because a part is recorded in its first call."""

    def compute_hash(self, vllm_config: Any) -> str:
        """Return a hash of the releases, on which the compiled code depends."""
        factors = [torch.__version__, *(version(f"dl-{name}") for name in ("core", "dicp"))]
        return hashlib.sha256("\n".join(factors).encode()).hexdigest()[:10]

    def compile(
        self,
        graph: GraphModule,
        example_inputs: Sequence[Any],
        compiler_config: dict[str, Any] | None,
        *_: Any,
        **__: Any,
    ) -> tuple[Callable[..., Any], None]:
        """Return the function to call instead of the graph, and no handle.

        The range of token numbers that vLLM passes is not needed: a part serves any number of
        tokens, or records one more program for a number that it does not serve.

        :raises ValueError: an option is unknown, or the number of inputs is wrong.
        """
        count = sum(node.op == "placeholder" for node in graph.graph.nodes)
        if len(example_inputs) != count:
            raise ValueError(f"[dl] the graph takes {count} inputs, not {len(example_inputs)}")
        options = (compiler_config or {}).get(OPTIONS)
        own = copy.deepcopy(graph)
        single = _returns_one(own)
        compiled = dl(own, example_inputs, options=options)

        def call(*arguments: Any) -> Any:
            if len(arguments) != count:
                raise TypeError(f"[dl] the graph takes {count} inputs, not {len(arguments)}")
            results = compiled(*arguments)
            return results[0] if single else results

        return call, None


def _returns_one(graph: GraphModule) -> bool:
    """Make a graph return a tuple; return True if it returned a single value."""
    end = next(node for node in reversed(graph.graph.nodes) if node.op == "output")
    if isinstance(end.args[0], (tuple, list)):
        return False
    end.args = ((end.args[0],),)
    graph.recompile()
    return True

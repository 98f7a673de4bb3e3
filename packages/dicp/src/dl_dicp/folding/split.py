"""Split of a graph into a part that is computed once and a part for each call."""

from __future__ import annotations

from dataclasses import dataclass

from torch.fx import Graph, GraphModule, Node

from dl_dicp.folding.batch_norm import OF_NORM, fold_batch_norms
from dl_dicp.folding.fixed import FixedValues, is_view


@dataclass
class Split:
    """Two parts of a graph.

    :ivar once: graph that computes values from weights.
    :ivar sources: indices of the arguments that ``once`` takes.
    :ivar rest: graph that computes the results from the other arguments and those values.
    :ivar kept: indices of the arguments that ``rest`` takes.
    :ivar norms: number of batch norms that were folded into a convolution.
    :ivar of_norms: indices of the values that are weights and biases of those convolutions.
    """

    once: GraphModule
    sources: list[int]
    rest: GraphModule
    kept: list[int]
    norms: int
    of_norms: list[int]

    @property
    def values(self) -> int:
        """Return the number of values that are computed once."""
        return len(self.once.graph.output_node().args[0])  # type: ignore[arg-type]


def split(module: GraphModule, places: list[int]) -> Split | None:
    """Return the two parts, or None if no value depends only on weights. The graph is not changed.

    :param places: indices of the arguments that are frozen weights.
    """
    copied = Graph()
    copied.output(copied.graph_copy(module.graph, {}))
    rest = GraphModule(module, copied)
    norms = fold_batch_norms(rest, FixedValues(rest, places))
    fixed = FixedValues(rest, places)
    wanted = _wanted(rest, fixed)
    if not wanted:
        return None
    once, sources = _part(rest, wanted)
    kept = _replace(rest, wanted)
    of_norms = [place for place, node in enumerate(wanted) if node.meta.get(OF_NORM)]
    return Split(once, sources, rest, kept, norms, of_norms)


def _wanted(module: GraphModule, fixed: FixedValues) -> list[Node]:
    """Return the nodes whose values are computed once."""
    escaping = _escaping(module)
    found: dict[Node, None] = {}
    for node in module.graph.nodes:
        if node.op != "call_function" or node in fixed:
            continue
        for given in node.all_input_nodes:
            if given not in fixed or fixed.is_view_of_weight(given):
                continue
            # Views cost nothing and are created in each call.
            root = given
            while is_view(root):
                (root,) = root.all_input_nodes
            if root.all_input_nodes and root not in escaping and fixed.may_be_kept(root):
                found[root] = None
    return list(found)


def _escaping(module: GraphModule) -> set[Node]:
    """Return the nodes that share memory with results, to which the caller may write."""
    waiting = list(module.graph.output_node().all_input_nodes)
    found: set[Node] = set()
    while waiting:
        node = waiting.pop()
        if node not in found:
            found.add(node)
            if is_view(node):
                waiting += node.all_input_nodes
    return found


def _part(module: GraphModule, wanted: list[Node]) -> tuple[GraphModule, list[int]]:
    """Return a graph that computes these nodes, and the indices of the arguments that it takes."""
    needed: set[Node] = set()
    waiting = list(wanted)
    while waiting:
        node = waiting.pop()
        if node not in needed:
            needed.add(node)
            waiting += node.all_input_nodes
    graph = Graph()
    made: dict[Node, Node] = {}
    given = [node for node in module.graph.nodes if node.op == "placeholder"]
    for node in module.graph.nodes:
        if node in needed:
            made[node] = graph.node_copy(node, lambda each: made[each])
    graph.output([made[node] for node in wanted])
    return GraphModule(module, graph), [i for i, node in enumerate(given) if node in needed]


def _replace(module: GraphModule, wanted: list[Node]) -> list[int]:
    """Make the nodes the last arguments of the graph; return the indices of the old arguments that
    it still takes."""
    graph = module.graph
    given = [node for node in graph.nodes if node.op == "placeholder"]
    read = {node for node in given if node.users}
    last = given[-1]
    for node in wanted:
        with graph.inserting_after(last):
            taken = last = graph.placeholder(f"once_{node.name}")
        taken.meta = dict(node.meta)
        node.replace_all_uses_with(taken)
    graph.eliminate_dead_code()  # removes nodes that only folded nodes used
    kept = []
    for place, node in enumerate(given):
        # An argument that is not read may still be part of the calling convention.
        if node.users or node not in read:
            kept.append(place)
        else:
            graph.erase_node(node)
    module.recompile()
    return kept

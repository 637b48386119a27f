"""Graphs: tasks that run in the order of their dependencies."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from typing import Any

from windlass._awaitables import maybe_awaitable
from windlass._branches import refuse_sensitive
from windlass._options import TaskOptions
from windlass._parking import only_awaits
from windlass._task_call import Call
from windlass.task import Task

Action = Callable[..., Any]
Condition = Callable[[Any], bool | Awaitable[bool]]


@dataclass(frozen=True, slots=True)
class Edge:
    """Edge between two nodes; followed if the condition is true for the start node's result."""

    start: str
    end: str
    condition: Condition | None = None


class Terminal(str):
    """`Graph.START` or `Graph.END`: the place before the first or after the last node."""

    @property
    def name(self) -> str:
        """The text itself."""
        return str(self)


class Graph:
    """Task that consists of nodes connected by edges.

    Nodes and conditions are tasks or functions, asynchronous or not; the results of tasks are
    recorded, functions run again in each run.

    A node gets the results of the nodes before it as positional arguments, in the order of the
    edges; for an edge from `Graph.START` that is the input of the call. Nodes run one after another
    in topological order; a node runs if at least one of its edges is followed. The result of the
    graph is the result of the node whose edge to `Graph.END` is followed. A call of the graph is
    one recorded task, `graph_<name>`, around the recorded tasks of its nodes.
    """

    START = Terminal("START")
    END = Terminal("END")

    def __init__(self, name: str) -> None:
        self.name = name
        self._nodes: dict[str, Action] = {self.START: _pass_on, self.END: _pass_on}
        self._edges: list[Edge] = []

    def add_node(self, name: str, action: Action) -> Graph:
        """Adds a node. Raises ValueError if the name is taken or the task is sensitive."""
        if name in self._nodes:
            raise ValueError(f"the graph already has a node '{name}'")
        refuse_sensitive("Graph", [action])
        self._nodes[name] = action
        return self

    def add_edge(self, start: str, end: str, condition: Condition | None = None) -> Graph:
        """Adds an edge: `end` runs after `start` if the condition is true for its result.

        Raises ValueError for an unknown node, an edge to `Graph.START` or from `Graph.END`.
        """
        if end == self.START or start == self.END:
            raise ValueError("no edge leads to Graph.START or from Graph.END")
        self._edges.append(Edge(self._require_node(start), self._require_node(end), condition))
        return self

    def start_with(self, name: str) -> Graph:
        """Adds an edge from `Graph.START`: the node gets the input."""
        return self.add_edge(self.START, name)

    def end_with(self, name: str) -> Graph:
        """Adds an edge to `Graph.END`: the node's result is the result of the graph."""
        return self.add_edge(name, self.END)

    def validate(self) -> Graph:
        """Returns the graph. Raises ValueError if it has a cycle or an unreachable node."""
        starts = any(edge.start == self.START for edge in self._edges)
        if not starts or not self._edges_into(self.END):
            raise ValueError(
                "the graph needs a first and a last node; call start_with and end_with"
            )
        try:
            reached: set[str] = {self.START}
            for node in self._topological_order():
                if any(edge.start in reached for edge in self._edges_into(node)):
                    reached.add(node)
        except CycleError as error:
            raise ValueError(f"the graph has a cycle: {error.args[1]}") from error
        # The end is unreachable only if the nodes before it are.
        unreachable = self._nodes.keys() - reached - {self.END}
        if unreachable:
            raise ValueError(f"no path leads to {', '.join(sorted(unreachable))}")
        return self

    async def __call__(self, input: Any = None) -> Any:
        """Runs the nodes that the conditions select; returns the result of the last node."""
        self.validate()
        options = TaskOptions(name=f"graph_{self.name}", auth_exempt=True)
        return await Task(self._walk, options, decode=self._decode)(input)

    @only_awaits
    async def _walk(self, input: Any) -> Any:
        results: dict[str, Any] = {self.START: input}
        for node in self._topological_order():
            open_edges = [edge for edge in self._edges_into(node) if await _is_open(edge, results)]
            if node == self.END and len(open_edges) > 1:
                names = ", ".join(edge.start for edge in open_edges)
                raise ValueError(f"the graph ended at several nodes: {names}")
            if open_edges:
                inputs = [results[edge.start] for edge in open_edges]
                results[node] = await maybe_awaitable(self._nodes[node](*inputs))
        return results.get(self.END)

    def _decode(self, call: Call, value: Any) -> Any:
        ends = [self._nodes[edge.start] for edge in self._edges_into(self.END)]
        return (
            ends[0].decode(call, value) if len(ends) == 1 and isinstance(ends[0], Task) else value
        )

    def _topological_order(self) -> list[str]:
        parents = {node: [edge.start for edge in self._edges_into(node)] for node in self._nodes}
        return list(TopologicalSorter(parents).static_order())

    def _edges_into(self, node: str) -> list[Edge]:
        return [edge for edge in self._edges if edge.end == node]

    def _require_node(self, name: str) -> str:
        if name not in self._nodes:
            raise ValueError(f"the graph has no node '{name}'; call add_node first")
        return name


def _pass_on(value: Any) -> Any:
    return value


async def _is_open(edge: Edge, results: dict[str, Any]) -> bool:
    if edge.start not in results:
        return False
    return edge.condition is None or bool(
        await maybe_awaitable(edge.condition(results[edge.start]))
    )

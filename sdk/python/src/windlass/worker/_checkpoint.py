"""Request bodies of checkpoints."""

from __future__ import annotations

from typing import Any

from windlass._entry import create_entry
from windlass._json import quote_json
from windlass.domain.events import ExecutionEventType as E
from windlass.domain.execution_context import ExecutionContext
from windlass.domain.state import ExecutionState
from windlass.worker._delta import Delta


class Checkpoints:
    """Builds the checkpoint bodies of one execution.

    Entries are JSON text already and are joined as text. The bodies omit the input, which the
    server has, and the output, which is in the last event.
    """

    def __init__(self, context: ExecutionContext[Any], worker_name: str) -> None:
        self._context = context
        self._head = (
            f'{{"workflow_id":{quote_json(context.workflow_id)}'
            f',"workflow_namespace":{quote_json(context.workflow_namespace)}'
            f',"workflow_name":{quote_json(context.workflow_name)}'
            f',"execution_id":{quote_json(context.execution_id)}'
            f',"current_worker":{quote_json(worker_name)}'
        )

    def build(self, delta: Delta, lines: str | None = None) -> bytes:
        """Returns the body for a delta; `lines` is the JSON of captured lines."""
        events = ",".join(delta.events)
        end = "}" if lines is None else f',"captured_lines":{lines}}}'
        return f'{self._head},"state":"{delta.state}","events":[{events}]{end}'.encode()

    def build_terminal(self, type: E, value: Any, state: ExecutionState) -> bytes:
        """Returns the body that ends the execution with an event that the run could not record."""
        name = self._context.workflow_name
        terminal_entry = create_entry(
            type, f"{name}_{self._context.execution_id}", name, value, state
        )
        return self.build(Delta((terminal_entry.text,), state))

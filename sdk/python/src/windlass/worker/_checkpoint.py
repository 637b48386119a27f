"""The bodies of checkpoints."""

from __future__ import annotations

from typing import Any

from windlass._entry import create_entry
from windlass._json import quote_json
from windlass.domain.events import ExecutionEventType as E
from windlass.domain.execution_context import ExecutionContext
from windlass.domain.state import ExecutionState
from windlass.worker._delta import Delta


class Checkpoints:
    """Writes the checkpoints of one execution.

    Values are text already and are put together as text. The input stays out of it, since the
    server has it; so does the output, which the last event carries.
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

    def body(self, delta: Delta) -> bytes:
        """What to send for a delta."""
        events = ",".join(delta.events)
        return f'{self._head},"state":"{delta.state}","events":[{events}]}}'.encode()

    def ending(self, type: E, value: Any, state: ExecutionState) -> bytes:
        """An end that the run itself could not tell of."""
        name = self._context.workflow_name
        made = create_entry(type, f"{name}_{self._context.execution_id}", name, value, state)
        return self.body(Delta((made.text,), state))

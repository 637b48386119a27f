"""`patched` and `patch_done`: changes of a workflow that do not affect executions in flight.

The answer of `patched` is recorded in the execution, once for each id. The first call of an
execution without such a record decides it: false if the log contains calls of this scope that the
run has not made yet, because then an older version has passed this place; otherwise true.
"""

from __future__ import annotations

import asyncio

from windlass._json import encode
from windlass._run import Run, require_scope
from windlass._task_call import find_caller
from windlass.domain.events import ExecutionEventType as E
from windlass.errors import ExecutionError
from windlass.output_storage import inline_result

MAX_ID_LENGTH = 200


def patched(id: str) -> bool:
    """Returns true if this execution takes the new path of a change, false if the old one.

    `id` names the change, such as `"2026-11-new-tax"`; it must not be used for another change. The
    answer is recorded and the same in every run of the execution. Raises
    ExecutionContextNotFoundError outside a run, and ExecutionError in a synchronous function.
    """
    scope = require_scope()
    call_id = _check(id)
    recorded = scope.run.patches.get(call_id)
    if recorded is None:
        recorded = scope.run.replay.find_plain(call_id)
    if recorded is None:
        recorded = not scope.run.guard.find_unrequested(scope.path)
        _record(scope.run, call_id, id, recorded)
    scope.run.patches[call_id] = bool(recorded)
    return bool(recorded)


def patch_done(id: str) -> None:
    """Declares that the old path of a change has been removed from the source.

    An execution that has taken the old path cannot continue here: it is a mismatch, which pauses
    the execution before anything runs. Other executions are not affected, and nothing is recorded.
    """
    scope = require_scope()
    call_id = _check(id)
    if scope.run.replay.find_plain(call_id) is not False or scope.run.guard.mode == "continue":
        return
    place, version = find_caller(), scope.run.version
    scope.run.guard.stop(
        f"this execution takes the old path of the patch {id!r}, which the source no longer has: "
        f"patch_done at {place}",
        {"call_id": call_id, "name": "patched", "version": scope.run.replay.paused_version},
        {"call_id": call_id, "name": "patch_done", "place": place, "version": version},
    )


def _check(id: str) -> str:
    if not isinstance(id, str) or not 0 < len(id) <= MAX_ID_LENGTH:
        raise ValueError(f"the id of a patch must be text of 1 to {MAX_ID_LENGTH} characters")
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        raise ExecutionError(message="patched can be called in async functions only") from None
    return f"patched:{id}"


def _record(run: Run, call_id: str, id: str, value: bool) -> None:
    run.record_task(E.TASK_STARTED, call_id, "patched", {"id": id})
    form, text = inline_result(call_id, value, encode(value))
    run.record_task(E.TASK_COMPLETED, call_id, "patched", form, value_text=text)

"""Holds a task until somebody has approved it."""

from __future__ import annotations

import inspect
from typing import Any

from windlass._call import Call
from windlass._options import TaskOptions
from windlass._run import Run
from windlass._services import Approval
from windlass.domain.events import ExecutionEventType as E
from windlass.errors import (
    ApprovalRejected,
    ExecutionError,
    PauseRequested,
    TransientDurabilityError,
)


async def passed(options: TaskOptions, run: Run, call: Call, task_name: str, attempt: int) -> None:
    """Returns once the attempt may be made.

    Raises PauseRequested while nobody has decided, ApprovalRejected once somebody refused.
    """
    if not options.requires_approval:
        return
    gate_id = f"{call.id}~retry{attempt}" if attempt else call.id
    if run.replay.first(E.TASK_APPROVED, gate_id):
        return
    asked = run.replay.first(E.TASK_AWAITING_APPROVAL, gate_id) is not None
    if not asked and not await _needed(options, call):
        return
    if run.transient:
        raise TransientDurabilityError(message="a transient run cannot wait for an approval")
    approval = await _asked(run, call, gate_id, task_name, asked)
    if approval.status == "approved":
        return
    if approval.status == "rejected":
        raise ApprovalRejected(
            task_name, approval.approver_subject, approval.approver_provider, approval.reason
        )
    raise PauseRequested(f"approval:{gate_id}", _notice(run, gate_id, task_name, approval))


async def _needed(options: TaskOptions, call: Call) -> bool:
    rule = options.requires_approval
    verdict = rule(*call.args, **call.kwargs) if callable(rule) else rule
    return bool(await verdict if inspect.isawaitable(verdict) else verdict)


async def _asked(run: Run, call: Call, gate_id: str, task_name: str, asked: bool) -> Approval:
    if not asked:
        answer = await run.services.request_approval(gate_id, task_name)
        if answer == "granted":
            return Approval("approved")
        if answer == "cancelled":
            raise ExecutionError(message="the execution takes no approvals any more")
        run.tell_task(E.TASK_AWAITING_APPROVAL, gate_id, call.name, _place(run, gate_id, task_name))
    return await run.services.approval(gate_id) or Approval("pending")


def _place(run: Run, gate_id: str, task_name: str) -> dict[str, Any]:
    return {
        "task_call_id": gate_id,
        "workflow_namespace": run.context.workflow_namespace,
        "workflow_name": run.context.workflow_name,
        "task_name": task_name,
    }


def _notice(run: Run, gate_id: str, task_name: str, approval: Approval) -> dict[str, Any]:
    return {
        "type": "approval_required",
        "execution_id": run.context.execution_id,
        **_place(run, gate_id, task_name),
        "approval_id": approval.approval_id,
        "requested_at": approval.requested_at,
    }

"""Approval gate: holds a task until its approval has been decided."""

from __future__ import annotations

from typing import Any

from windlass._awaitables import maybe_awaitable
from windlass._options import TaskOptions
from windlass._run import Run
from windlass._services import Approval
from windlass._task_call import Call
from windlass.domain.events import ExecutionEventType as E
from windlass.errors import (
    ApprovalRejected,
    ExecutionError,
    PauseRequested,
    TransientDurabilityError,
)


async def await_approval(
    options: TaskOptions, run: Run, call: Call, task_name: str, attempt: int
) -> None:
    """Returns once the attempt may run.

    `attempt` is 0 for the first attempt; each retry needs an approval of its own. Raises
    PauseRequested while the approval is pending and ApprovalRejected if it was rejected.
    """
    if not options.requires_approval:
        return
    approval_call_id = f"{call.id}~retry{attempt}" if attempt else call.id
    if run.replay.find_first_time(E.TASK_APPROVED, approval_call_id):
        return
    is_requested = (
        run.replay.find_first_time(E.TASK_AWAITING_APPROVAL, approval_call_id) is not None
    )
    if not is_requested and not await _requires_approval(options, call):
        return
    if run.is_transient:
        raise TransientDurabilityError(message="a transient run cannot wait for an approval")
    approval = await _request_approval(run, call, approval_call_id, task_name, is_requested)
    if approval.status == "approved":
        return
    if approval.status == "rejected":
        raise ApprovalRejected(
            task_name, approval.approver_subject, approval.approver_provider, approval.reason
        )
    run.is_pausing = True
    raise PauseRequested(
        f"approval:{approval_call_id}", _pause_output(run, approval_call_id, task_name, approval)
    )


async def _requires_approval(options: TaskOptions, call: Call) -> bool:
    rule = options.requires_approval
    result = rule(*call.args, **call.kwargs) if callable(rule) else rule
    return bool(await maybe_awaitable(result))


async def _request_approval(
    run: Run, call: Call, approval_call_id: str, task_name: str, is_requested: bool
) -> Approval:
    if not is_requested:
        status = await run.services.request_approval(approval_call_id, task_name)
        if status == "granted":
            return Approval("approved")
        if status == "cancelled":
            raise ExecutionError(message="the execution no longer accepts approvals")
        run.record_task(
            E.TASK_AWAITING_APPROVAL,
            approval_call_id,
            call.name,
            _task_reference(run, approval_call_id, task_name),
        )
    return await run.services.find_approval(approval_call_id) or Approval("pending")


def _task_reference(run: Run, approval_call_id: str, task_name: str) -> dict[str, Any]:
    return {
        "task_call_id": approval_call_id,
        "workflow_namespace": run.context.workflow_namespace,
        "workflow_name": run.context.workflow_name,
        "task_name": task_name,
    }


def _pause_output(
    run: Run, approval_call_id: str, task_name: str, approval: Approval
) -> dict[str, Any]:
    return {
        "type": "approval_required",
        "execution_id": run.context.execution_id,
        **_task_reference(run, approval_call_id, task_name),
        "approval_id": approval.approval_id,
        "requested_at": approval.requested_at,
    }

"""What a workflow that waits for approvals may have to catch."""

from windlass.errors import ApprovalRejected

__all__ = ["ApprovalRejected"]

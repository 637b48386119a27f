"""Exceptions that a workflow with approvals may catch."""

from windlass.errors import ApprovalRejected

__all__ = ["ApprovalRejected"]

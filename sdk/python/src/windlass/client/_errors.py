"""Errors of the client.

Exception
└── ClientError                 `status` and `detail` of the server's refusal
    ├── InvalidRequestError     400, 413, 415, 422: the request can never succeed; `problems`
    ├── NotAuthenticatedError   401: the token is missing, wrong or expired
    ├── PermissionDeniedError   403: the caller may not do this
    ├── NotFoundError           404: workflow, execution, approval or schedule
    ├── ConflictError           409: the object is in another state
    ├── RateLimitedError        429, after the time for retries
    └── UnavailableError        no answer or 5xx, after the time for retries
ExecutionError
├── ExecutionPausedError        the execution waits for a resume; `name` and `output` of the pause
└── ExecutionCancelledError     the execution was cancelled
"""

from __future__ import annotations

from typing import Any

from windlass._narrow import is_list, is_object
from windlass.errors import ExecutionError


class ClientError(Exception):
    """A request failed; `status` is the HTTP status, or 0 without an answer."""

    def __init__(self, message: str, status: int = 0, detail: Any = None) -> None:
        super().__init__(message)
        self.status = status
        self.detail = detail


class InvalidRequestError(ClientError):
    """The request can never succeed. `problems` lists the parts that were refused, if any."""

    @property
    def problems(self) -> list[dict[str, Any]]:
        """Problems as `{"loc": [...], "msg": ..., "type": ...}`."""
        return self.detail if is_list(self.detail) else []


class NotAuthenticatedError(ClientError):
    """The token is missing, wrong or expired."""


class PermissionDeniedError(ClientError):
    """The caller may not do this."""


class NotFoundError(ClientError):
    """The workflow, execution, approval or schedule does not exist."""


class ConflictError(ClientError):
    """The object is in a state in which the request is not possible."""


class RateLimitedError(ClientError):
    """The server still limited the rate of requests after the time for retries."""


class UnavailableError(ClientError):
    """The server gave no answer, or answered 5xx, until the time for retries was over."""


class ExecutionPausedError(ExecutionError):
    """The execution is paused: `name` and `output` of the pause."""

    def __init__(self, execution_id: str, name: str | None, output: Any) -> None:
        super().__init__(None, f"the execution {execution_id} is paused on {name!r}; resume it")
        self.execution_id = execution_id
        self.name = name
        self.output = output


class ExecutionCancelledError(ExecutionError):
    """The execution was cancelled."""

    def __init__(self, execution_id: str) -> None:
        super().__init__(None, f"the execution {execution_id} was cancelled")
        self.execution_id = execution_id


_BY_STATUS: dict[int, type[ClientError]] = {
    401: NotAuthenticatedError,
    403: PermissionDeniedError,
    404: NotFoundError,
    409: ConflictError,
    429: RateLimitedError,
}


def to_error(method: str, path: str, status: int, detail: Any) -> ClientError:
    """Returns the error for a refusal of the server."""
    kind = _BY_STATUS.get(status) or (InvalidRequestError if status < 500 else UnavailableError)
    return kind(f"{method} {path} was answered {status}: {_to_text(detail)}", status, detail)


def _to_text(detail: Any) -> str:
    if is_object(detail) and "message" in detail:
        return str(detail["message"])
    if is_list(detail):
        return "; ".join(
            f"{'.'.join(map(str, problem.get('loc', ())))}: {problem.get('msg')}"
            for problem in detail
            if is_object(problem)
        )
    return str(detail)

"""Client of a Windlass server, for applications that start and observe executions.

`Client` is for synchronous code and threads, `AsyncClient` for asynchronous code; their methods
have the same names. They need `pip install 'windlass[client]'`.

Both are built on aiohttp, which the worker needs too: a second HTTP library would bring the same
functions again, and httpx, the one with both interfaces, is used nowhere else here. `Client`
therefore runs the asynchronous client in a thread of its own.
"""

try:
    import aiohttp as _aiohttp  # noqa: F401  # pyright: ignore[reportUnusedImport]
except ImportError as error:
    raise ImportError("the client needs an HTTP library: pip install 'windlass[client]'") from error

from windlass.client._async_client import AsyncClient
from windlass.client._async_handle import AsyncHandle
from windlass.client._async_schedules import AsyncSchedules
from windlass.client._client import Client
from windlass.client._errors import (
    ClientError,
    ConflictError,
    ExecutionCancelledError,
    ExecutionPausedError,
    InvalidRequestError,
    NotAuthenticatedError,
    NotFoundError,
    PermissionDeniedError,
    RateLimitedError,
    UnavailableError,
)
from windlass.client._handle import Handle
from windlass.client._models import ExecutionRow, LogLine, ScheduleRow, TickRow, UploadedWorkflow
from windlass.client._schedules import Schedules

__all__ = [
    "AsyncClient",
    "AsyncHandle",
    "AsyncSchedules",
    "Client",
    "ClientError",
    "ConflictError",
    "ExecutionCancelledError",
    "ExecutionPausedError",
    "ExecutionRow",
    "Handle",
    "InvalidRequestError",
    "LogLine",
    "NotAuthenticatedError",
    "NotFoundError",
    "PermissionDeniedError",
    "RateLimitedError",
    "ScheduleRow",
    "Schedules",
    "TickRow",
    "UnavailableError",
    "UploadedWorkflow",
]

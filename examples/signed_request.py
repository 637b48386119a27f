"""A task that uses a secret. Set it first: `POST /admin/secrets`, `{"name": "SIGNING_KEY", …}`.

Only the task that declares the secret gets it. The task returns the signature, not the key.
"""

import hashlib
import hmac

from windlass import ExecutionContext, task, workflow


@task.with_options(secret_requests=["SIGNING_KEY"])
async def sign(text: str, secrets: dict[str, str] | None = None) -> str:
    assert secrets is not None
    return hmac.new(secrets["SIGNING_KEY"].encode(), text.encode(), hashlib.sha256).hexdigest()


@task
async def send(text: str, signature: str) -> str:
    return f"{text} ({signature[:8]})"


@workflow
async def send_signed(ctx: ExecutionContext[list[str]]) -> list[str]:
    return [await send(text, await sign(text)) for text in ctx.input]

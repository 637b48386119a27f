"""A language model that calls a tool until it has an answer; its words are streamed as progress.

It needs no vendor's package: `server` is the address of any server with the common route
`/v1/chat/completions`. Each answer of the model is recorded, so after a crash you do not pay again.
Run it as a stream to see the words: `POST /workflows/default/answer_question/run/stream`.
"""

import json
import urllib.request
from dataclasses import dataclass
from typing import Any

from windlass import ExecutionContext, Retry, progress, task, workflow

MAX_ROUNDS = 100
TOOL = {
    "type": "function",
    "function": {
        "name": "temperature",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
    },
}

Message = dict[str, Any]


@dataclass
class Question:
    server: str
    model: str
    text: str


@task.with_options(retry=Retry(attempts=3, delay=1), timeout=120)
def ask_model(server: str, model: str, messages: list[Message]) -> Message:
    body = {"model": model, "messages": messages, "tools": [TOOL], "stream": True}
    url, headers = f"{server}/v1/chat/completions", {"Content-Type": "application/json"}
    request = urllib.request.Request(url, json.dumps(body).encode(), headers)
    words, called = "", {"id": "", "name": "", "arguments": ""}
    with urllib.request.urlopen(request, timeout=60) as response:
        for line in response:
            data = line.decode().removeprefix("data: ").strip()
            if not data or data == "[DONE]":
                continue
            delta: dict[str, Any] = json.loads(data)["choices"][0]["delta"]
            if word := delta.get("content"):
                words += word
                progress(word)
            parts: list[dict[str, Any]] = delta.get("tool_calls") or []
            for part in parts:
                called["id"] += part.get("id") or ""
                for name, text in part["function"].items():
                    called[name] += text
    if not called["id"]:
        return {"role": "assistant", "content": words}
    function = {"name": called["name"], "arguments": called["arguments"]}
    call = {"id": called["id"], "type": "function", "function": function}
    return {"role": "assistant", "content": words, "tool_calls": [call]}


@task
async def temperature(city: str) -> str:
    return f"{len(city)} degrees in {city}"


@workflow
async def answer_question(ctx: ExecutionContext[Question]) -> str:
    question = ctx.input
    messages: list[Message] = [{"role": "user", "content": question.text}]
    for _ in range(MAX_ROUNDS):
        answer = await ask_model(question.server, question.model, [*messages])
        messages.append(answer)
        if "tool_calls" not in answer:
            return str(answer["content"])
        for call in answer["tool_calls"]:
            found = await temperature(json.loads(call["function"]["arguments"])["city"])
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": found})
    return "no answer"

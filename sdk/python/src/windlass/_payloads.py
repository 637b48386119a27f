"""Payloads: the values that leave the process, and their envelopes.

An envelope replaces the JSON text of one value: `{"$codec":NAME,"key":KEY,"data":BASE64}`. Names
and structure around values stay unchanged, because the server and the console read them: types,
ids and times of events, names of tasks, arguments, pauses and exceptions, counters of retries,
references of output storages, approvals, null. `_FORMS` lists the members of each event that are
wrapped.

Text is replaced by text, so a number that Python cannot write again survives. A value that has the
form of an envelope is wrapped in another one, so it is not decoded twice.
"""

from __future__ import annotations

import json
import re
import secrets
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping
from typing import Any

from windlass._failures import ENCODED_FAILURE
from windlass._json import encode, loads, quote_json, slice_json
from windlass._narrow import is_list, is_object
from windlass._replay import COMPENSATIONS
from windlass.codec import PayloadCodec
from windlass.domain.events import ExecutionEventType as E
from windlass.errors import PayloadCodecError
from windlass.output_storage import CACHED, parse_reference

_NAME = re.compile(r"[\w.+-]{1,64}")
_MEMBER = r'\s*"(?:\$codec|key|data)"\s*:\s*"[^"\\]*"\s*'
# Outside of strings, where quotes have a backslash, this can only be an object.
_ENVELOPE = re.compile(rf"\{{{_MEMBER},{_MEMBER},{_MEMBER}\}}")
_MEMBERS = {"$codec", "key", "data"}
MARK = '"$codec"'

# The server accepts 16,384 characters, of which base64 and the envelope take more than a quarter.
MAX_MESSAGE = 12_000

Wrap = Callable[[str], str]


class Payloads:
    """Wraps and unwraps values with a codec; without one, an envelope is an error."""

    def __init__(self, codec: PayloadCodec | None) -> None:
        if codec is not None and not _NAME.fullmatch(codec.name):
            raise ValueError(
                f"the codec name {codec.name!r} must have 1 to 64 letters, digits or any of _.+-"
            )
        self.codec = codec

    def wrap(self, text: str) -> str:
        """Returns the envelope of a value, given as JSON.

        Null is returned unchanged, and so is every value if there is no codec.
        Raises PayloadCodecError.
        """
        codec = self.codec
        if codec is None or text == "null":
            return text
        try:
            key, data = codec.encode(text.encode())
        except PayloadCodecError:
            raise
        except Exception as error:
            raise PayloadCodecError(f"the codec {codec.name} failed: {error!r}") from error
        encoded = b64encode(data).decode()
        return f'{{"$codec":{quote_json(codec.name)},"key":{quote_json(key)},"data":"{encoded}"}}'

    def wrap_value(self, value: Any) -> Any:
        """Returns the envelope of a value as a JSON value. Raises UnserializableError too."""
        return value if self.codec is None else loads(self.wrap(encode(value)))

    def unwrap(self, text: str) -> str:
        """Returns JSON text with the values of all envelopes in it. Raises PayloadCodecError."""
        return _ENVELOPE.sub(self._unwrap_match, text) if MARK in text else text

    def unwrap_value(self, value: Any) -> Any:
        """Returns a JSON value with the values of all envelopes in it. Raises PayloadCodecError."""
        if is_object(value):
            if value.keys() == _MEMBERS and all(isinstance(part, str) for part in value.values()):
                return loads(self._decode(value))
            return {name: self.unwrap_value(part) for name, part in value.items()}
        return [self.unwrap_value(part) for part in value] if is_list(value) else value

    def wrap_event(self, text: str) -> str:
        """Returns an entry of the log with its values in envelopes.

        Its id, which is a hash of them, becomes a random one.
        """
        if self.codec is None:
            return text
        value = slice_json(text, "value") or "null"
        if value == "null":
            return text
        event = loads(text)
        form = _FORMS.get(event["type"], _whole)
        changed = form(self.wrap, event["value"], value)
        start = text.index(value, text.index('"value":'))
        head = f'{{"id":"{secrets.token_hex(8)}"'
        return head + text[text.index(",") : start] + changed + text[start + len(value) :]

    def wrap_progress(self, item: str) -> str:
        """Returns a report of progress, given as JSON, with its value in an envelope."""
        if self.codec is None:
            return item
        parts = _slices(loads(item), item)
        return _members({**parts, "value": self.wrap(parts["value"])})

    def wrap_line(self, line: str) -> str:
        """Returns a line of output, given as JSON. Its message is the text of an envelope.

        A message whose envelope the server would not accept is cut.
        """
        if self.codec is None:
            return line
        members = loads(line)
        text = quote_json(members["message"])
        if len(text) > MAX_MESSAGE:
            # In the longest form, a character has twelve bytes.
            text = quote_json(members["message"][: MAX_MESSAGE // 12] + "…")
        return _members({**_slices(members, line), "message": quote_json(self.wrap(text))})

    def unwrap_message(self, message: str) -> str:
        """Returns the message of a line."""
        return str(loads(self.unwrap(message))) if message.startswith(f"{{{MARK}") else message

    def _unwrap_match(self, match: re.Match[str]) -> str:
        members = json.loads(match[0])
        return self._decode(members) if members.keys() == _MEMBERS else match[0]

    def _decode(self, members: Mapping[str, str]) -> str:
        name, key = members["$codec"], members["key"]
        if self.codec is None or self.codec.name != name:
            here = "has none" if self.codec is None else f"has the codec {self.codec.name!r}"
            raise PayloadCodecError(
                f"a value is encoded with the codec {name!r}, but this process {here}"
            )
        try:
            return self.codec.decode(b64decode(members["data"], validate=True), key).decode()
        except PayloadCodecError:
            raise
        except Exception as error:
            raise PayloadCodecError(f"the codec {name} failed to decode: {error!r}") from error


def _members(parts: Mapping[str, str]) -> str:
    return "{" + ",".join(f"{quote_json(name)}:{text}" for name, text in parts.items()) + "}"


def _slices(value: Mapping[str, Any], text: str) -> dict[str, str]:
    return {name: slice_json(text, name) or "null" for name in value}


def _whole(wrap: Wrap, value: Any, text: str) -> str:
    return text if parse_reference(value) is not None else wrap(text)


def _as_it_is(_wrap: Wrap, _value: Any, text: str) -> str:
    return text


def _reference(wrap: Wrap, value: Any, text: str) -> str:
    """Wraps the value in an inline reference; others refer to a value that is elsewhere."""
    reference = parse_reference(value)
    if reference is None:
        return wrap(text)
    if reference.storage_type != "inline":
        return text
    inner = slice_json(text, "metadata", "value") or "null"
    head = f'"storage_type":"inline","reference_id":{quote_json(reference.reference_id)}'
    mark = f',"{CACHED}":true' if CACHED in reference.metadata else ""
    return f'{{{head},"metadata":{{"value":{wrap(inner)}{mark}}}}}'


def _failure(wrap: Wrap, value: Any, text: str) -> str:
    """Keeps type, module and traceback of a failure; the frames contain code, but no values."""
    if not is_object(value) or "type" not in value:
        return wrap(text)
    parts = _slices(value, text)
    kept: dict[str, str] = {
        name: parts[name] for name in ("type", "module", "traceback") if name in parts
    }
    message = quote_json("the message is encoded")
    return _members({**kept, "message": message, ENCODED_FAILURE: wrap(text)})


def _failure_reference(wrap: Wrap, value: Any, text: str) -> str:
    reference = parse_reference(value)
    if reference is None:
        return _failure(wrap, value, text)
    inner = slice_json(text, "metadata", "value") or "null"
    failure = _failure(wrap, reference.metadata.get("value"), inner)
    head = f'"storage_type":"inline","reference_id":{quote_json(reference.reference_id)}'
    return f'{{{head},"metadata":{{"value":{failure}}}}}'


def _only(**forms: Any) -> Any:
    """Returns a form that changes only these members."""

    def change(wrap: Wrap, value: Any, text: str) -> str:
        if not is_object(value):
            return wrap(text)
        parts = _slices(value, text)
        changed = {n: form(wrap, value[n], parts[n]) for n, form in forms.items() if n in parts}
        return _members({**parts, **changed})

    return change


def _arguments(wrap: Wrap, value: Any, text: str) -> str:
    """Wraps each argument; their names stay readable."""
    if not is_object(value):
        return wrap(text)
    parts = _slices(value, text).items()
    # Ids of calls are readable everywhere.
    return _members({name: part if name == COMPENSATIONS else wrap(part) for name, part in parts})


def _arguments_after(wrap: Wrap, value: Any, text: str) -> str:
    """Wraps each argument, and the failure after which a fallback or rollback runs."""
    if not is_object(value):
        return wrap(text)
    parts = {name: wrap(part) for name, part in _slices(value, text).items()}
    failure = slice_json(text, "failure")
    if failure is not None:
        parts["failure"] = _failure(wrap, value["failure"], failure)
    return _members(parts)


def _plain(wrap: Wrap, _value: Any, text: str) -> str:
    return wrap(text)


def _pause(wrap: Wrap, value: Any, text: str) -> str:
    """Keeps the output of pauses of the SDK itself, which names calls and tasks."""
    name = str(value.get("name")) if is_object(value) else ""
    if name == "nondeterminism" or name.startswith("approval:"):
        return text
    form: str = _only(output=_plain, refused=_plain)(wrap, value, text)
    return form


_FORMS: dict[str, Callable[[Wrap, Any, str], str]] = {
    E.WORKFLOW_FAILED: _failure,
    E.WORKFLOW_PAUSED: _pause,
    E.WORKFLOW_CANCELLED: _as_it_is,
    E.TASK_STARTED: _arguments,
    E.TASK_FALLBACK_STARTED: _arguments_after,
    E.TASK_ROLLBACK_STARTED: _arguments_after,
    E.TASK_COMPLETED: _reference,
    E.TASK_FALLBACK_COMPLETED: _reference,
    E.TASK_ROLLBACK_COMPLETED: _reference,
    E.TASK_FAILED: _failure_reference,
    E.TASK_FALLBACK_FAILED: _failure,
    E.TASK_ROLLBACK_FAILED: _failure,
    E.TASK_RETRY_FAILED: _only(failure=_failure),
    E.TASK_RETRY_COMPLETED: _only(output=_reference),
    E.TASK_RESUMED: _only(input=_plain),
    E.TASK_RETRY_STARTED: _as_it_is,
    E.TASK_PAUSED: _as_it_is,
    E.TASK_AWAITING_APPROVAL: _as_it_is,
}

"""Storage of task results and workflow outputs: inline in the log, or outside it by reference."""

from __future__ import annotations

import hmac
import json
import math
import os
import pickle
import re
from abc import ABC, abstractmethod
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any, Literal, TypeGuard
from uuid import uuid4

from windlass._file_limits import FileLimits
from windlass._json import encode, quote_json
from windlass._namespace import current_namespace, namespace_folder
from windlass._narrow import is_object
from windlass._option_checks import check_number, to_seconds
from windlass._private_files import make_private_folder, shared_key, write_private_file
from windlass.errors import UnserializableError

DEFAULT_DIRECTORY = Path(".windlass") / "outputs"

KEY_FILE = ".signing-key"
MIN_KEY_BYTES = 16
SIGNED = b"windlass-signed-pickle-1\n"
SIGNATURE_BYTES = 32

# Last member of the metadata of a result that the cache of its task had: the server reads it there.
CACHED = "~cached"

_MEMBERS = {"storage_type", "reference_id", "metadata"}
_FILE_NAME = re.compile(r"[0-9a-f]{32}")


@dataclass(frozen=True, slots=True)
class OutputStorageReference:
    """Reference in the log to a stored result.

    Attributes:
        storage_type: kind of the storage, such as `"inline"` or `"local_file"`.
        reference_id: id of the call or execution with this result.
        metadata: data with which the storage finds the result; JSON.
    """

    storage_type: str
    reference_id: str
    metadata: dict[str, Any] = field(default_factory=dict[str, Any])

    def to_dict(self) -> dict[str, Any]:
        """Returns the reference as the log holds it."""
        return {
            "storage_type": self.storage_type,
            "reference_id": self.reference_id,
            "metadata": self.metadata,
        }


class OutputStorage(ABC):
    """Stores results. `store` and `retrieve` may block: they are called in a thread."""

    @abstractmethod
    def store(self, reference_id: str, value: Any) -> OutputStorageReference:
        """Stores `value` and returns the reference that the log holds instead of it."""

    @abstractmethod
    def retrieve(self, reference: OutputStorageReference) -> Any:
        """Returns the value that was passed to `store`."""

    def delete(self, reference: OutputStorageReference) -> None:
        """Deletes a stored value; one that no longer exists is no error.

        The SDK deletes the value of an attempt that fails after it was stored, because it does not
        fit the annotation of the task. Values that a log refers to stay: the execution needs them
        to continue, and its readers afterwards. Raises NotImplementedError by default.
        """
        raise NotImplementedError(f"{type(self).__name__} cannot delete values")


class InlineOutputStorage(OutputStorage):
    """Stores results in the log itself. The default."""

    def store(self, reference_id: str, value: Any) -> OutputStorageReference:
        return OutputStorageReference("inline", reference_id, {"value": value})

    def retrieve(self, reference: OutputStorageReference) -> Any:
        return reference.metadata.get("value")

    def delete(self, reference: OutputStorageReference) -> None:
        """Does nothing: the value is deleted with the log."""


def inline_result(
    reference_id: str, value: Any, text: str, *, is_cached: bool = False
) -> tuple[dict[str, Any], str]:
    """Returns an inline reference to a value and its JSON, which contains `text` unchanged."""
    metadata = {"value": value, CACHED: True} if is_cached else {"value": value}
    mark = f',"{CACHED}":true' if is_cached else ""
    form = {"storage_type": "inline", "reference_id": reference_id, "metadata": metadata}
    members = f'"reference_id":{quote_json(reference_id)},"metadata":{{"value":{text}{mark}}}'
    return form, f'{{"storage_type":"inline",{members}}}'


def with_cache_mark(reference: OutputStorageReference) -> OutputStorageReference:
    """Returns the reference to a result that the cache of the task had."""
    return replace(reference, metadata={**reference.metadata, CACHED: True})


def without_cache_mark(reference: OutputStorageReference) -> OutputStorageReference:
    """Returns the reference as its storage returned it."""
    if CACHED not in reference.metadata:
        return reference
    metadata = {name: part for name, part in reference.metadata.items() if name != CACHED}
    return replace(reference, metadata=metadata)


class LocalFileStorage(OutputStorage):
    """Stores results in files: for values that are too large for the log or that JSON lacks.

    `directory` is relative to the worker's working directory, by default `.windlass/outputs`. Only
    workers that share it, and run as the same user, can continue an execution with such results:
    folders have mode 0700 and files 0600. Each namespace has a folder of its own. The serializer
    `"pickle"` stores any Python value, `"json"` only values that JSON can represent.

    A process that reads a pickle runs code that the writer has chosen. Pickles are therefore
    signed, together with the name of their file, and others are refused. The key is `signing_key`,
    or a file `.signing-key` of the directory, which is created when it is missing; pass a key of at
    least 16 bytes if others can write to the directory. `accept_unsigned` also reads pickles of
    releases that did not sign them.

    The retention of the server deletes executions, but not the files of their values. `max_age`
    (seconds or a timedelta) deletes values that were neither stored nor read for longer: make it
    longer than the retention of the server and the longest wait of a workflow, which needs its
    values to continue. `max_bytes` deletes the values that were not read for longest, above this
    size of all files. Both are checked after a value was stored. An execution whose value was
    deleted fails when it needs it, with a FileNotFoundError that says so.
    """

    def __init__(
        self,
        directory: str | Path = DEFAULT_DIRECTORY,
        serializer: Literal["pickle", "json"] = "pickle",
        *,
        signing_key: bytes | None = None,
        accept_unsigned: bool = False,
        max_age: float | timedelta | None = None,
        max_bytes: int | None = None,
    ) -> None:
        if signing_key is not None and len(signing_key) < MIN_KEY_BYTES:
            raise ValueError(f"signing_key must have at least {MIN_KEY_BYTES} bytes")
        self._directory = Path(directory)
        self._serializer = serializer
        self._signing_key = signing_key
        self._accept_unsigned = accept_unsigned
        self._files: FileLimits | None = None
        max_age_s = math.inf if max_age is None else to_seconds("max_age", max_age)
        if max_bytes is not None:
            check_number("max_bytes", max_bytes)
        if max_age is not None or max_bytes is not None:
            size = math.inf if max_bytes is None else max_bytes
            path = self._directory.absolute()
            self._files = FileLimits(path, size, max_age_s, _is_file_name)

    def store(self, reference_id: str, value: Any) -> OutputStorageReference:
        is_pickle = self._serializer == "pickle"
        content = _pickled(value) if is_pickle else encode(value).encode()
        # A reference id is unique only within its execution, so each file gets a random name.
        name = uuid4().hex
        make_private_folder(self._directory)
        namespace = current_namespace.get()
        if namespace:
            folder = namespace_folder(namespace)
            make_private_folder(self._directory / folder)
            name = f"{folder}/{name}"
        if is_pickle:
            content = SIGNED + self._sign(name, content) + content
        write_private_file(self._directory / name, content)
        if self._files is not None:
            self._files.on_stored(len(content))
        metadata = {"serializer": self._serializer, "file": name}
        return OutputStorageReference("local_file", reference_id, metadata)

    def retrieve(self, reference: OutputStorageReference) -> Any:
        name = self._name_of(reference)
        path = self._directory / name
        try:
            content = path.read_bytes()
        except FileNotFoundError as error:
            raise FileNotFoundError(
                f"the stored result {path} is missing: max_age or max_bytes has deleted it, or the "
                "worker that stored it has another directory"
            ) from error
        if self._files is not None:
            # Its age counts from now.
            with suppress(OSError):
                os.utime(path)
        if reference.metadata.get("serializer") == "pickle":
            return pickle.loads(self._verified(name, content))
        return json.loads(content)

    def delete(self, reference: OutputStorageReference) -> None:
        """Deletes the file; a missing one is no error."""
        (self._directory / self._name_of(reference)).unlink(missing_ok=True)

    def _name_of(self, reference: OutputStorageReference) -> str:
        name = str(reference.metadata.get("file"))
        file = name.rpartition("/")[2]
        if not _FILE_NAME.fullmatch(file) or name not in _readable_names(file):
            raise ValueError(f"the reference names no file of this namespace: {name!r}")
        return name

    def _verified(self, name: str, content: bytes) -> bytes:
        """Returns the pickle of a signed file. Raises ValueError without a valid signature."""
        if not content.startswith(SIGNED):
            if self._accept_unsigned:
                return content
            raise ValueError(
                f"the pickle {name} is not signed; if an earlier release wrote it, pass "
                "accept_unsigned=True to LocalFileStorage"
            )
        start = len(SIGNED) + SIGNATURE_BYTES
        signature, pickled = content[len(SIGNED) : start], content[start:]
        if not hmac.compare_digest(signature, self._sign(name, pickled)):
            raise ValueError(
                f"the signature of the pickle {name} is wrong: the file was changed, or written "
                "with another signing_key"
            )
        return pickled

    def _sign(self, name: str, pickled: bytes) -> bytes:
        if self._signing_key is None:
            self._signing_key = shared_key(self._directory / KEY_FILE)
        # The name has a fixed set of characters, so the separator is unambiguous.
        return hmac.digest(self._signing_key, name.encode() + b"\0" + pickled, "sha256")


def _is_file_name(name: str) -> bool:
    return _FILE_NAME.fullmatch(name) is not None


def _readable_names(file: str) -> set[str]:
    """Returns the names of a file in the running workflow's namespace, and in earlier releases.

    A workflow can return any value, one with the form of a reference too. Without this check it
    would read the results of another namespace whose file names it knows.
    """
    namespace = current_namespace.get()
    return {file, f"{namespace_folder(namespace)}/{file}"} if namespace else {file}


def _pickled(value: Any) -> bytes:
    try:
        return pickle.dumps(value)
    except RecursionError as error:
        message = "the value is nested too deeply for pickle; the json serializer allows 512 levels"
        raise UnserializableError(message=message) from error


def parse_reference(value: Any) -> OutputStorageReference | None:
    """Returns an event's value as a reference, or None if it is a plain value."""
    return OutputStorageReference(**value) if _is_reference(value) else None


def is_inline(value: Any) -> TypeGuard[dict[str, Any]]:
    """Returns True for a reference to a value in the log itself, at `["metadata"]["value"]`."""
    return _is_reference(value) and value["storage_type"] == "inline"


def _is_reference(value: Any) -> TypeGuard[dict[str, Any]]:
    return is_object(value) and value.keys() == _MEMBERS and isinstance(value["metadata"], dict)

"""Storage of task results and workflow outputs: inline in the log, or outside it by reference."""

from __future__ import annotations

import json
import pickle
import re
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal
from uuid import uuid4

from windlass._json import encode
from windlass._namespace import current_namespace, namespace_folder
from windlass._private_files import make_private_folder, write_private_file
from windlass.errors import UnserializableError

DEFAULT_DIRECTORY = Path(".windlass") / "outputs"

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
    metadata: dict[str, Any] = field(default_factory=dict)

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


class InlineOutputStorage(OutputStorage):
    """Stores results in the log itself. The default."""

    def store(self, reference_id: str, value: Any) -> OutputStorageReference:
        return OutputStorageReference("inline", reference_id, {"value": value})

    def retrieve(self, reference: OutputStorageReference) -> Any:
        return reference.metadata.get("value")


def inline_result(reference_id: str, value: Any, text: str) -> tuple[dict[str, Any], str]:
    """Returns an inline reference to a value and its JSON, which contains `text` unchanged."""
    form = InlineOutputStorage().store(reference_id, value).to_dict()
    members = f'"reference_id":{encode(reference_id)},"metadata":{{"value":{text}}}'
    return form, f'{{"storage_type":"inline",{members}}}'


class LocalFileStorage(OutputStorage):
    """Stores results in files: for values that are too large for the log or that JSON lacks.

    `directory` is relative to the worker's working directory, by default `.windlass/outputs`. Only
    workers that share it, and run as the same user, can continue an execution with such results:
    folders have mode 0700 and files 0600. Each namespace has a folder of its own. The serializer
    `"pickle"` stores any Python value, `"json"` only values that JSON can represent.
    """

    def __init__(
        self,
        directory: str | Path = DEFAULT_DIRECTORY,
        serializer: Literal["pickle", "json"] = "pickle",
    ) -> None:
        self._directory = Path(directory)
        self._serializer = serializer

    def store(self, reference_id: str, value: Any) -> OutputStorageReference:
        content = _pickled(value) if self._serializer == "pickle" else encode(value).encode()
        # A reference id is unique only within its execution, so each file gets a random name.
        name = uuid4().hex
        make_private_folder(self._directory)
        namespace = current_namespace.get()
        if namespace:
            folder = namespace_folder(namespace)
            make_private_folder(self._directory / folder)
            name = f"{folder}/{name}"
        write_private_file(self._directory / name, content)
        metadata = {"serializer": self._serializer, "file": name}
        return OutputStorageReference("local_file", reference_id, metadata)

    def retrieve(self, reference: OutputStorageReference) -> Any:
        name = str(reference.metadata.get("file"))
        file = name.rpartition("/")[2]
        if not _FILE_NAME.fullmatch(file) or name not in _readable_names(file):
            raise ValueError(f"the reference names no file of this namespace: {name!r}")
        content = (self._directory / name).read_bytes()
        if reference.metadata.get("serializer") == "pickle":
            return pickle.loads(content)
        return json.loads(content)


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
    if isinstance(value, dict) and value.keys() == _MEMBERS and isinstance(value["metadata"], dict):
        return OutputStorageReference(**value)
    return None

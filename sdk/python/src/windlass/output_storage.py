"""Where the results of tasks and workflows are kept: in the log itself, or beside it."""

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
from windlass.errors import UnserializableError

DEFAULT_DIRECTORY = Path(".windlass") / "outputs"

_MEMBERS = {"storage_type", "reference_id", "metadata"}
_FILE_NAME = re.compile(r"[0-9a-f]{32}")


@dataclass(frozen=True, slots=True)
class OutputStorageReference:
    """Stands in the log for a result, and says where it is."""

    storage_type: str
    reference_id: str
    metadata: dict[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """The reference as the log holds it."""
        return {
            "storage_type": self.storage_type,
            "reference_id": self.reference_id,
            "metadata": self.metadata,
        }


class OutputStorage(ABC):
    """Keeps results. `store` and `retrieve` may block: they are called in a thread."""

    @abstractmethod
    def store(self, reference_id: str, value: Any) -> OutputStorageReference:
        """Keeps `value` and returns what stands for it."""

    @abstractmethod
    def retrieve(self, reference: OutputStorageReference) -> Any:
        """The value that `store` was given."""


class InlineOutputStorage(OutputStorage):
    """Keeps results in the log. The default."""

    def store(self, reference_id: str, value: Any) -> OutputStorageReference:
        return OutputStorageReference("inline", reference_id, {"value": value})

    def retrieve(self, reference: OutputStorageReference) -> Any:
        return reference.metadata.get("value")


class LocalFileStorage(OutputStorage):
    """Keeps results in files, for values too large for the log or without a form in JSON.

    Only workers that share `directory` can continue such an execution. `"pickle"` keeps any
    Python value, `"json"` what JSON can hold.
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
        # A reference id is unique in its execution only, hence a name of the file's own.
        name = uuid4().hex
        self._directory.mkdir(parents=True, exist_ok=True)
        (self._directory / name).write_bytes(content)
        metadata = {"serializer": self._serializer, "file": name}
        return OutputStorageReference("local_file", reference_id, metadata)

    def retrieve(self, reference: OutputStorageReference) -> Any:
        name = str(reference.metadata.get("file"))
        if not _FILE_NAME.fullmatch(name):
            raise ValueError(f"not a file of this storage: {name!r}")
        content = (self._directory / name).read_bytes()
        if reference.metadata.get("serializer") == "pickle":
            return pickle.loads(content)
        return json.loads(content)


def _pickled(value: Any) -> bytes:
    try:
        return pickle.dumps(value)
    except RecursionError as error:
        message = "the value is nested too deeply for pickle; as JSON 512 levels pass"
        raise UnserializableError(message=message) from error


def parse_reference(value: Any) -> OutputStorageReference | None:
    """The reference that an event's value is, or None if the value stands for itself."""
    if isinstance(value, dict) and value.keys() == _MEMBERS and isinstance(value["metadata"], dict):
        return OutputStorageReference(**value)
    return None

"""Pickles of LocalFileStorage: signed, bound to their file, deletable."""

from __future__ import annotations

import pickle
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from windlass import InlineOutputStorage, LocalFileStorage, OutputStorage, OutputStorageReference
from windlass._private_files import shared_key

executed: list[str] = []


class Payload:
    def __reduce__(self) -> tuple[Any, ...]:
        return (executed.append, ("executed",))


def file_of(directory: Path, reference: OutputStorageReference) -> Path:
    return directory / str(reference.metadata["file"])


def test_pickle_survives_and_is_signed_with_a_private_key(tmp_path: Path) -> None:
    reference = LocalFileStorage(tmp_path).store("r", {"a": {1, 2}})
    assert LocalFileStorage(tmp_path).retrieve(reference) == {"a": {1, 2}}
    key = tmp_path / ".signing-key"
    assert len(key.read_bytes()) == 32
    assert stat.S_IMODE(key.stat().st_mode) == 0o600


def test_foreign_pickle_is_refused_and_not_executed(tmp_path: Path) -> None:
    storage = LocalFileStorage(tmp_path)
    reference = storage.store("r", 1)
    file_of(tmp_path, reference).write_bytes(pickle.dumps(Payload()))
    with pytest.raises(ValueError, match="is not signed"):
        storage.retrieve(reference)
    signed = LocalFileStorage(tmp_path, signing_key=b"k" * 16)
    other = signed.store("r", Payload())
    with pytest.raises(ValueError, match="signature of the pickle"):
        storage.retrieve(other)
    assert executed == []


def test_changed_or_moved_pickle_is_refused(tmp_path: Path) -> None:
    storage = LocalFileStorage(tmp_path)
    first, second = storage.store("a", "first"), storage.store("b", "second")
    file_of(tmp_path, first).write_bytes(file_of(tmp_path, second).read_bytes())
    with pytest.raises(ValueError, match="signature of the pickle"):
        storage.retrieve(first)
    content = bytearray(file_of(tmp_path, second).read_bytes())
    content[-2] ^= 1
    file_of(tmp_path, second).write_bytes(content)
    with pytest.raises(ValueError, match="signature of the pickle"):
        storage.retrieve(second)


def test_json_file_claimed_to_be_a_pickle_is_refused(tmp_path: Path) -> None:
    reference = LocalFileStorage(tmp_path, "json").store("r", "text")
    forged = OutputStorageReference(
        "local_file", "r", {**reference.metadata, "serializer": "pickle"}
    )
    with pytest.raises(ValueError, match="is not signed"):
        LocalFileStorage(tmp_path).retrieve(forged)


def test_unsigned_pickle_of_an_earlier_release_is_read_on_request(tmp_path: Path) -> None:
    (tmp_path / ("a" * 32)).write_bytes(pickle.dumps("old"))
    reference = OutputStorageReference(
        "local_file", "r", {"serializer": "pickle", "file": "a" * 32}
    )
    with pytest.raises(ValueError, match="accept_unsigned=True"):
        LocalFileStorage(tmp_path).retrieve(reference)
    assert LocalFileStorage(tmp_path, accept_unsigned=True).retrieve(reference) == "old"


def test_processes_that_start_together_share_one_key(tmp_path: Path) -> None:
    for n in range(20):
        path = tmp_path / str(n) / "key"
        with ThreadPoolExecutor(8) as pool:
            keys = set(pool.map(shared_key, [path] * 8))
        assert len(keys) == 1
        assert [file.name for file in path.parent.iterdir()] == ["key"]


def test_short_key_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="at least 16 bytes"):
        LocalFileStorage(tmp_path, signing_key=b"short")


def test_deleted_result_is_gone_and_deleting_again_is_no_error(tmp_path: Path) -> None:
    storage = LocalFileStorage(tmp_path, "json")
    reference = storage.store("r", 1)
    storage.delete(reference)
    storage.delete(reference)
    with pytest.raises(FileNotFoundError):
        storage.retrieve(reference)
    outside = OutputStorageReference("local_file", "r", {"serializer": "json", "file": "../x"})
    with pytest.raises(ValueError, match="names no file"):
        storage.delete(outside)
    inline = InlineOutputStorage()
    inline.delete(inline.store("r", 1))


def test_storage_without_delete_says_so() -> None:
    class Other(OutputStorage):
        def store(self, reference_id: str, value: Any) -> OutputStorageReference:
            return OutputStorageReference("other", reference_id)

        def retrieve(self, reference: OutputStorageReference) -> Any:
            return None

    with pytest.raises(NotImplementedError, match="Other cannot delete"):
        Other().delete(OutputStorageReference("other", "r"))

"""Log entries."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest

from windlass._entry import create_entry, event_id
from windlass._json import canonical_json
from windlass.domain.state import ExecutionState


def test_event_ids_equal_those_of_the_reference_release() -> None:
    entry = event_id("WORKFLOW_SCHEDULED", "w1", "w1", None, "2026-01-02T03:04:05.000006")
    assert entry == "67a95999cfe9837a"


@pytest.mark.parametrize("value", [None, 'a"é', {"b": [1, {"a": None}]}, {1: "x", "y": 2}])
def test_event_id_is_the_hash_of_the_canonical_event(value: Any) -> None:
    event = {"name": "nä", "source_id": 's"', "time": "2026", "type": "T", "value": value}
    digest = hashlib.sha256(canonical_json(event).encode()).hexdigest()
    assert event_id("T", 's"', "nä", value, "2026") == digest[:16]


@pytest.mark.parametrize("value", [None, "ä\ud800", {"b": [1, {"a": None}]}, {1: "x", "y": 2}])
def test_text_of_an_entry_contains_the_whole_event(value: Any) -> None:
    entry = create_entry("TASK_STARTED", 'id with "quotes"', "näme", value, ExecutionState.RUNNING)
    sent = json.loads(entry.text)
    assert sent.keys() == {"id", "type", "source_id", "name", "value", "time", "subject"}
    assert sent["source_id"] == 'id with "quotes"'
    assert sent["id"] == entry.event.id
    assert sent["time"] == entry.event.time
    assert sent["time"].endswith("Z")
    assert sent["value"] == json.loads(json.dumps(value))


def test_entry_is_unchanged_after_its_value_is_mutated() -> None:
    value = {"a": 1}
    entry = create_entry("TASK_COMPLETED", "s", "n", value, ExecutionState.RUNNING)
    value["a"] = 2
    assert json.loads(entry.text)["value"] == {"a": 1}


def test_value_text_is_sent_unchanged() -> None:
    entry = create_entry(
        "WORKFLOW_STARTED", "s", "n", float("inf"), ExecutionState.RUNNING, value_text="1e400"
    )
    assert '"value":1e400,' in entry.text

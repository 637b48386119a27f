"""Hooks of the fuzzer: existing names, so that requests get beyond 404, and no endless streams."""

import os
import random

import schemathesis

KNOWN = {
    "namespace": ["default"],
    "workflow_name": ["hello_world"],
    "execution_id": os.environ["FUZZ_EXECUTIONS"].split(","),
    "other_id": os.environ["FUZZ_EXECUTIONS"].split(","),
    "schedule_id": ["fuzzed"],
    "subject": ["fuzzed"],
    "key_name": ["fuzzed"],
    "role_name": ["viewer", "fuzzed"],
    "version": [1, 2],
    "a": [1, 2],
    "b": [1, 2],
}


@schemathesis.hook
def map_case(context, case):
    """Replaces some parameters of a request; the rest of it stays as generated."""
    chosen = random.Random(repr((case.path_parameters, case.query, case.body)))
    path = case.path_parameters or {}
    for name in path:
        if name in KNOWN and chosen.random() < 0.7:
            path[name] = chosen.choice(KNOWN[name])
    if path.get("mode") == "stream":
        path["mode"] = "async"
    query = case.query or {}
    if path.get("mode") == "sync":
        query["timeout"] = "0.05"
        case.query = query
    if query.get("mode") == "stream":
        query["mode"] = "sync"
    # Otherwise one request may start all executions again.
    if case.path == "/executions/bulk" and isinstance(case.body, dict):
        case.body["dry_run"] = True
    return case

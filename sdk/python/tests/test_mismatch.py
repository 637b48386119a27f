"""Changes of code: a run that makes other calls than its log is stopped before anything runs."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from effects import charge, charge_card, effects
from run_fixture import RecordingJournal, pass_time, resuming, run_from, types
from windlass import (
    ExecutionContext,
    ExecutionEvent,
    Graph,
    as_completed,
    first,
    parallel,
    patch_done,
    patched,
    pause,
    sleep,
    task,
    workflow,
)
from windlass.errors import ExecutionContextNotFoundError
from windlass.testing import Engine
from windlass.workflow import Workflow


@task
async def ship(order: int) -> str:
    effects.append(f"ship {order}")
    return f"shipped {order}"


@task
async def group(amount: int) -> int:
    return await charge(amount) + await charge(amount + 1)


@task
async def renamed_inside(amount: int) -> int:
    return await charge(amount) + await charge_card(amount + 1)


renamed_inside = renamed_inside.with_options(name="group")


Body = Callable[[ExecutionContext[Any]], Awaitable[Any]]


def order(body: Body, **options: Any) -> Workflow[Any, Any]:
    return workflow.with_options(name="order", **options)(body)


async def first_version(ctx: ExecutionContext[Any]) -> Any:
    await charge(1)
    decision = await pause("review")
    return [decision, await ship(1)]


async def with_renamed_task(ctx: ExecutionContext[Any]) -> Any:
    await charge_card(1)
    decision = await pause("review")
    return [decision, await ship(1)]


def cut(journal: RecordingJournal, after: str) -> list[ExecutionEvent]:
    """Returns the log up to the first event whose type and name are `after`."""
    events = journal.events
    n = next(n for n, event in enumerate(events) if f"{event.type} {event.name}" == after)
    return events[: n + 1]


async def paused_log() -> list[ExecutionEvent]:
    log = (await run_from(order(first_version))).events
    effects.clear()
    return [*log, resuming("yes")]


async def test_renamed_task_pauses_with_both_sides_and_runs_nothing() -> None:
    log = await paused_log()
    journal = await run_from(order(with_renamed_task), log)
    assert effects == []
    assert types(journal.events)[-3:] == ["TASK_STARTED", "TASK_PAUSED", "WORKFLOW_PAUSED"]
    value = journal.events[-1].value
    assert value["name"] == "nondeterminism"
    output = value["output"]
    assert output["recorded"]["name"] == "charge"
    assert output["recorded"]["step"] == 1
    assert output["recorded"]["call_id"] == log[1].source_id
    assert output["new"]["name"] == "charge_card"
    assert f"{__file__}:" in output["new"]["place"]
    assert output["unrequested"] == 2
    assert "charge_card" in output["message"]
    assert "step 1" in output["message"]


async def test_version_of_the_paused_run_and_of_this_one_are_named() -> None:
    log = (await run_from(order(first_version), version=3)).events
    assert log[-1].value == {"name": "review", "output": None, "version": 3}
    journal = await run_from(order(with_renamed_task), [*log, resuming("yes")], version=4)
    output = journal.events[-1].value["output"]
    assert (output["recorded"]["version"], output["new"]["version"]) == (3, 4)


async def test_resume_with_continue_runs_the_new_call_and_later_runs_agree() -> None:
    log = await paused_log()
    log += (await run_from(order(with_renamed_task), log)).events
    log.append(resuming("continue"))
    journal = await run_from(order(with_renamed_task), log)
    assert effects == ["charge_card 1"]
    assert journal.events[-1].value["name"] == "review"
    log += [*journal.events, resuming("yes")]
    for length in range(len(log) - len(journal.events), len(log)):
        await run_from(order(with_renamed_task), log[:length])
    journal = await run_from(order(with_renamed_task), log)
    assert journal.events[-1].value == ["yes", "shipped 1"]


async def test_resume_with_fail_fails_the_execution() -> None:
    log = await paused_log()
    log += (await run_from(order(with_renamed_task), log)).events
    journal = await run_from(order(with_renamed_task), [*log, resuming("fail")])
    assert effects == []
    assert journal.events[-1].type == "WORKFLOW_FAILED"
    assert journal.events[-1].value["type"] == "NondeterminismError"
    assert "step 1" in journal.events[-1].value["message"]


@pytest.mark.parametrize("body", [None, "retry", {"a": 1}, ["continue"]])
async def test_any_other_resume_checks_again(body: Any) -> None:
    log = await paused_log()
    log += (await run_from(order(with_renamed_task), log)).events
    journal = await run_from(order(with_renamed_task), [*log, resuming(body)])
    assert effects == []
    assert journal.events[-1].type == "WORKFLOW_PAUSED"
    assert ("refused" in journal.events[-1].value) == (body is not None)


async def test_corrected_version_continues_after_the_mismatch() -> None:
    log = await paused_log()
    log += (await run_from(order(with_renamed_task), log)).events
    # The resume belongs to the mismatch, so the pause of the workflow waits for its own.
    log.append(resuming(None))
    log += (await run_from(order(first_version), log)).events
    assert log[-1].value["name"] == "review"
    journal = await run_from(order(first_version), [*log, resuming("yes")])
    assert journal.events[-1].value == ["yes", "shipped 1"]
    assert effects == ["ship 1"]


async def test_on_mismatch_fail_fails_at_once_although_the_workflow_catches_everything() -> None:
    async def catches(ctx: ExecutionContext[Any]) -> Any:
        try:
            return await with_renamed_task(ctx)
        except BaseException:
            return "caught"

    journal = await run_from(order(catches, on_mismatch="fail"), await paused_log())
    assert effects == []
    assert journal.events[-1].value["type"] == "NondeterminismError"


async def test_on_mismatch_continue_runs_the_new_call() -> None:
    journal = await run_from(order(with_renamed_task, on_mismatch="continue"), await paused_log())
    assert effects == ["charge_card 1", "ship 1"]
    assert journal.events[-1].value == ["yes", "shipped 1"]


def test_unknown_on_mismatch_is_refused() -> None:
    with pytest.raises(ValueError, match="on_mismatch must be one of pause, fail, continue"):
        order(first_version, on_mismatch="ignore")


async def test_changed_argument_is_a_mismatch() -> None:
    async def other_amount(ctx: ExecutionContext[Any]) -> Any:
        await charge(2)
        return await pause("review")

    journal = await run_from(order(other_amount), await paused_log())
    assert effects == []
    assert journal.events[-1].value["name"] == "nondeterminism"


async def test_inserted_call_before_recorded_ones_is_a_mismatch() -> None:
    async def inserted(ctx: ExecutionContext[Any]) -> Any:
        await ship(0)
        return await first_version(ctx)

    journal = await run_from(order(inserted), await paused_log())
    assert effects == []
    assert journal.events[-1].value["output"]["new"]["name"] == "ship"


async def test_inserted_pause_before_recorded_calls_is_a_mismatch() -> None:
    async def inserted(ctx: ExecutionContext[Any]) -> Any:
        await pause("early")
        return await first_version(ctx)

    journal = await run_from(order(inserted), await paused_log())
    assert journal.events[-1].value["name"] == "nondeterminism"


async def test_appended_and_removed_last_calls_are_no_mismatch() -> None:
    async def shortened(ctx: ExecutionContext[Any]) -> Any:
        return await charge(1)

    async def appended(ctx: ExecutionContext[Any]) -> Any:
        return [*await first_version(ctx), await charge_card(5)]

    journal = await run_from(order(shortened), await paused_log())
    assert journal.events[-1].value == 1
    journal = await run_from(order(appended), await paused_log())
    assert journal.events[-1].value == ["yes", "shipped 1", 5]


async def test_changed_calls_inside_of_a_finished_task_are_no_mismatch() -> None:
    async def nested(ctx: ExecutionContext[Any]) -> Any:
        return [await group(1), await pause("review")]

    async def changed(ctx: ExecutionContext[Any]) -> Any:
        return [await renamed_inside(1), await pause("review"), await ship(2)]

    log = [*(await run_from(order(nested))).events, resuming("yes")]
    journal = await run_from(order(changed), log)
    assert journal.events[-1].value == [3, "yes", "shipped 2"]


async def test_changed_call_inside_of_an_interrupted_task_is_a_mismatch() -> None:
    async def nested(ctx: ExecutionContext[Any]) -> Any:
        return await group(1)

    async def changed(ctx: ExecutionContext[Any]) -> Any:
        return await renamed_inside(1)

    whole = await run_from(order(nested))
    log = whole.events[: types(whole.events).index("TASK_COMPLETED", 5) + 1]
    assert [event.name for event in log if event.type == "TASK_COMPLETED"] == ["charge", "charge"]
    effects.clear()
    journal = await run_from(order(changed), log)
    assert effects == []
    output = journal.events[-1].value["output"]
    assert (output["recorded"]["name"], output["new"]["name"]) == ("charge", "charge_card")


async def test_renamed_task_inside_of_parallel_is_named() -> None:
    async def both(ctx: ExecutionContext[Any]) -> Any:
        return [await parallel(ship(1), charge(1)), await pause("review")]

    async def changed(ctx: ExecutionContext[Any]) -> Any:
        return [await parallel(ship(1), charge_card(1)), await pause("review")]

    log = [*(await run_from(order(both))).events, resuming("yes")]
    effects.clear()
    journal = await run_from(order(changed), log)
    assert effects == []
    output = journal.events[-1].value["output"]
    assert (output["recorded"]["name"], output["new"]["name"]) == ("charge", "charge_card")


async def branch(name: int, rounds: int) -> list[str]:
    return [await ship(10 * name + n) for n in range(rounds)]


async def with_parallel(ctx: ExecutionContext[Any]) -> Any:
    return await parallel(branch(1, 4), branch(2, 4), group(7), *[charge(n) for n in range(3)])


async def with_gather(ctx: ExecutionContext[Any]) -> Any:
    return await asyncio.gather(branch(1, 4), branch(2, 4), group(7))


async def with_task_group(ctx: ExecutionContext[Any]) -> Any:
    async with asyncio.TaskGroup() as tasks:
        first, second = tasks.create_task(branch(1, 4)), tasks.create_task(branch(2, 4))
    return [first.result(), second.result()]


async def with_map_and_limit(ctx: ExecutionContext[Any]) -> Any:
    return [await group.map([1, 5, 9], limit=2), await parallel(branch(3, 2), branch(4, 2))]


async def with_graph(ctx: ExecutionContext[Any]) -> Any:
    graph = Graph("g").add_node("a", charge).add_node("b", group).add_node("c", ship)
    graph.add_edge("a", "b").add_edge("b", "c").start_with("a").end_with("c")
    return await graph(3)


async def with_as_completed(ctx: ExecutionContext[Any]) -> Any:
    calls = [branch(n, 3 - n) for n in range(3)]
    parts = [[await part, await charge(10)] async for part in as_completed(calls)]
    return [parts, await first(branch(8, 1), branch(9, 5)), await charge(11)]


async def with_late_branch(ctx: ExecutionContext[Any]) -> Any:
    async def late() -> list[str]:
        await asyncio.sleep(0.02)
        return await branch(2, 2)

    return await asyncio.gather(branch(1, 3), late())


async def with_timeout(ctx: ExecutionContext[Any]) -> Any:
    async def bounded() -> str:
        try:
            async with asyncio.timeout(0.05):
                await sleep(3600)
        except TimeoutError:
            return await ship(99)
        return "slept"

    return await asyncio.gather(branch(1, 3), bounded())


BODIES: list[Body] = [
    first_version,
    with_parallel,
    with_gather,
    with_task_group,
    with_map_and_limit,
    with_graph,
    with_as_completed,
    with_late_branch,
    with_timeout,
]


@pytest.mark.parametrize("body", BODIES, ids=lambda body: body.__name__)
async def test_unchanged_workflow_cut_anywhere_and_in_any_order_has_no_mismatch(body: Body) -> None:
    whole = (await run_from(order(body))).events
    for length in range(1, len(whole)):
        log = whole[:length]
        journal = await run_from(order(body), log)
        assert [e for e in journal.events if e.name == "nondeterminism"] == [], length
        assert journal.events[-1].value == whole[-1].value


async def test_log_with_one_branch_far_ahead_of_the_other_has_no_mismatch() -> None:
    whole = (await run_from(order(with_gather))).events
    started = [event for event in whole if event.type == "TASK_STARTED"]
    second = {event.source_id for event in started if str(event.value.get("order", "")) > "19"}
    assert len(second) == 4
    ahead = [event for event in whole if event.source_id in second]
    ahead.insert(0, whole[0])
    journal = await run_from(order(with_gather), ahead)
    assert journal.events[-1].value == whole[-1].value


async def test_a_call_is_held_while_the_loop_is_blocked_for_an_hour_the_other_branch_still_follows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    is_replay = False

    async def late() -> int:
        if is_replay:
            pass_time(monkeypatch)
        for _ in range(10):
            await asyncio.sleep(0)
        return await charge(1)

    async def both(ctx: ExecutionContext[Any]) -> Any:
        return await asyncio.gather(charge_card(2), late())

    whole = (await run_from(order(both))).events
    is_replay = True
    log = [event for event in whole[:-1] if event.name != "charge_card"]
    journal = await run_from(order(both), log)
    assert journal.events[-1].value == [2, 1]


async def test_renamed_task_in_a_concurrent_branch_is_a_mismatch(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("windlass._mismatch.SETTLE_LOOKS", 1)

    async def changed(ctx: ExecutionContext[Any]) -> Any:
        return await asyncio.gather(branch(1, 4), charge_card(1), group(7))

    whole = await run_from(order(with_gather))
    effects.clear()
    journal = await run_from(order(changed), cut(whole, "TASK_COMPLETED group"))
    assert "charge_card 1" not in effects
    assert journal.events[-1].value["name"] == "nondeterminism"


async def test_new_patch_is_true_in_new_executions_and_false_in_those_past_it() -> None:
    async def changed(ctx: ExecutionContext[Any]) -> Any:
        amount = await (charge_card(1) if patched("card") else charge(1))
        return [amount, await pause("review"), patched("card")]

    journal = await run_from(order(changed))
    assert effects == ["charge_card 1"]
    journal = await run_from(order(changed), [*journal.events, resuming("yes")])
    assert journal.events[-1].value == [1, "yes", True]
    assert effects == ["charge_card 1"]

    log = await paused_log()
    journal = await run_from(order(changed), log)
    assert journal.events[-1].value == [1, "yes", False]
    assert effects == []
    assert next(e.name for e in journal.events if e.type == "TASK_COMPLETED") == "patched"


async def test_patch_in_a_loop_has_one_answer_in_every_run() -> None:
    async def old(ctx: ExecutionContext[Any]) -> Any:
        return [await charge(n) for n in range(3)]

    async def changed(ctx: ExecutionContext[Any]) -> Any:
        return [await (charge_card(n) if patched("card") else charge(n)) for n in range(3)]

    whole = (await run_from(order(old))).events
    for length in range(1, len(whole)):
        effects.clear()
        journal = await run_from(order(changed), whole[:length])
        has_passed = any(event.type == "TASK_STARTED" for event in whole[:length])
        assert ("charge_card 2" in effects) != has_passed
        log = whole[:length] + journal.events
        for again in range(length, len(log)):
            finished = await run_from(order(changed), log[:again])
            assert finished.events[-1].value == [0, 1, 2]


async def test_patch_done_pauses_executions_on_the_old_path_only() -> None:
    async def changed(ctx: ExecutionContext[Any]) -> Any:
        await (charge_card(1) if patched("card") else charge(1))
        return await pause("review")

    async def cleaned(ctx: ExecutionContext[Any]) -> Any:
        patch_done("card")
        await charge_card(1)
        return await pause("review")

    new = [*(await run_from(order(changed))).events, resuming("yes")]
    assert (await run_from(order(cleaned), new)).events[-1].value == "yes"
    assert (await run_from(order(cleaned))).events[-1].value["name"] == "review"

    old = await paused_log()
    old += (await run_from(order(changed), [*old, resuming(None)])).events
    effects.clear()
    journal = await run_from(order(cleaned), [*old[:-1], resuming("yes")])
    assert effects == []
    paused = journal.events[-1].value
    assert paused["name"] == "nondeterminism"
    assert "old path of the patch 'card'" in paused["output"]["message"]


def test_patched_outside_of_a_run_is_refused() -> None:
    with pytest.raises(ExecutionContextNotFoundError):
        patched("x")
    with pytest.raises(ExecutionContextNotFoundError):
        patch_done("x")


async def test_cancelled_run_may_clean_up_before_it_has_replayed(engine: Engine) -> None:
    async def cleans_up(ctx: ExecutionContext[Any]) -> Any:
        try:
            await asyncio.sleep(3600)
            await first_version(ctx)
        finally:
            await charge_card(9)

    log = [event for event in await paused_log() if event.type.startswith(("TASK", "WORKFLOW_ST"))]
    execution = await engine.continue_from(order(cleans_up), None, log)
    await execution.cancel()
    assert execution.state == "CANCELLED"
    assert effects == ["charge_card 9"]

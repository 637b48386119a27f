"""Checks of a task's options against the signature of its function."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from windlass._options import TaskOptions


def check_task(func: Callable[..., Any], options: TaskOptions) -> None:
    """Checks the options against the signature of the task's function."""
    label = getattr(func, "__name__", type(func).__name__)
    if inspect.isasyncgenfunction(func):
        raise TypeError(f"{label} is an async generator; a task returns one value, such as a list")
    if options.process:
        _check_process(func, label)
    signature = inspect.signature(func)
    returns_nothing = signature.return_annotation in (None, "None")
    if options.sensitive and options.output_storage is None and not returns_nothing:
        raise TypeError(
            f"the sensitive task {label} needs output_storage, since the log must not hold its "
            "result; annotate it with -> None if it has none"
        )
    if options.name:
        _check_template("name", options.name, signature)
    for template in options.config_requests:
        _check_template("config_requests", template, signature)
    for name in ("fallback", "rollback"):
        substitute = getattr(options, name)
        if substitute is not None:
            _check_substitute(name, substitute, label, signature, options)


def _check_process(func: Callable[..., Any], label: str) -> None:
    """Refuses functions that another process cannot run or find."""
    if inspect.iscoroutinefunction(func):
        raise TypeError(f"{label} is an async function; process=True is for def functions")
    name = getattr(func, "__qualname__", "<")
    if "<" in name or not inspect.isfunction(func):
        raise TypeError(
            f"{label} has process=True, so it must be a def at the top level of a module or class"
        )


def _check_template(option: str, template: str, signature: inspect.Signature) -> None:
    """Refuses a template whose fields are not parameters of the function."""
    from string import Formatter

    try:
        fields = [field for _, field, _, _ in Formatter().parse(template) if field is not None]
    except ValueError as error:
        raise ValueError(f"{option} {template!r} is not a valid template: {error}") from error
    parameters = signature.parameters
    kinds = {parameter.kind for parameter in parameters.values()}
    if inspect.Parameter.VAR_KEYWORD in kinds:
        return
    positional = sum(
        parameter.kind in {parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD}
        for parameter in parameters.values()
    )
    for field in fields:
        root = field.partition(".")[0].partition("[")[0]
        is_known = root in parameters or (
            (root.isdigit() or not root)
            and (inspect.Parameter.VAR_POSITIONAL in kinds or int(root or 0) < positional)
        )
        if not is_known:
            raise ValueError(
                f"{option} {template!r} refers to {root!r}; the parameters are "
                f"{', '.join(parameters) or 'none'}"
            )


def _check_substitute(
    option: str,
    substitute: Callable[..., Any],
    label: str,
    signature: inspect.Signature,
    options: TaskOptions,
) -> None:
    """Refuses a substitute that accepts neither all arguments of the task nor the required ones."""
    try:
        accepted = inspect.signature(substitute)
    except (TypeError, ValueError):  # some built-in functions have no signature
        return
    injected = {
        name
        for name, is_injected in (
            ("secrets", options.secret_requests),
            ("config", options.config_requests),
            ("metadata", options.metadata),
        )
        if is_injected
    }
    passed = [p for name, p in signature.parameters.items() if name not in injected]
    required = [p for p in passed if p.default is p.empty]
    if not _binds(accepted, passed) and not _binds(accepted, required):
        raise TypeError(f"{option} does not accept the arguments of {label}{signature}")


def _binds(accepted: inspect.Signature, parameters: Sequence[inspect.Parameter]) -> bool:
    args = [p for p in parameters if p.kind in {p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD}]
    kwargs = {p.name: p for p in parameters if p.kind is p.KEYWORD_ONLY}
    try:
        accepted.bind(*args, **kwargs)
    except TypeError:
        return False
    return True

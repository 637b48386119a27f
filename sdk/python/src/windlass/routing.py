"""Routing policies: rank the workers that meet a workflow's requirement.

    routing=score(prefer(label("region") == input("customer.region"), weight=10), least(load))

A policy is data. The server reads it from the uploaded source and evaluates it; the worker with the
highest score gets the execution.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

_RESOURCES = {
    "cpu_total",
    "cpu_available",
    "memory_total",
    "memory_available",
    "disk_total",
    "disk_free",
}


@dataclass(frozen=True, slots=True)
class Input:
    """Value in the execution's input; `"a.b"` stands for `input["a"]["b"]`."""

    path: str

    def to_dict(self) -> dict[str, str]:
        """Returns the form that the server stores."""
        return {"$input": self.path}


@dataclass(frozen=True, slots=True)
class Comparison:
    """Comparison of a worker's property with a value, true or false for each worker."""

    selector: str
    op: str
    value: Any

    def to_dict(self) -> dict[str, Any]:
        """Returns the form that the server stores."""
        value = self.value.to_dict() if isinstance(self.value, Input) else self.value
        return {"selector": self.selector, "op": self.op, "value": value}


@dataclass(frozen=True, slots=True, eq=False)
class Selector:
    """Property of a worker. Comparing it with a value creates a Comparison."""

    text: str

    def __eq__(self, other: object) -> Comparison:  # type: ignore[override]
        return Comparison(self.text, "==", other)

    def __ne__(self, other: object) -> Comparison:  # type: ignore[override]
        return Comparison(self.text, "!=", other)

    def __lt__(self, other: object) -> Comparison:
        return Comparison(self.text, "<", other)

    def __le__(self, other: object) -> Comparison:
        return Comparison(self.text, "<=", other)

    def __gt__(self, other: object) -> Comparison:
        return Comparison(self.text, ">", other)

    def __ge__(self, other: object) -> Comparison:
        return Comparison(self.text, ">=", other)

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True, slots=True)
class Term:
    """One term of a score: a criterion and its weight."""

    kind: str
    weight: float
    comparison: Comparison | None = None
    selector: str | None = None

    def __post_init__(self) -> None:
        if not (math.isfinite(self.weight) and self.weight > 0):
            raise ValueError("the weight must be a positive number")

    def to_dict(self) -> dict[str, Any]:
        """Returns the form that the server stores."""
        about: dict[str, Any] = self.comparison.to_dict() if self.comparison else {}
        if self.selector:
            about = {"selector": self.selector}
        return {"kind": self.kind, **about, "weight": self.weight}


@dataclass(frozen=True, slots=True)
class Score:
    """Sum of weighted terms; the worker with the highest sum is chosen."""

    terms: tuple[Term, ...]

    def to_dict(self) -> dict[str, Any]:
        """Returns the form that the server stores."""
        return {"terms": [term.to_dict() for term in self.terms]}


# Names that sources of the reference release import.
Condition = Comparison
InputRef = Input


def score(*terms: Term) -> Score:
    """Combines terms into a routing policy. Raises ValueError without any."""
    if not terms:
        raise ValueError("a score needs at least one term")
    return Score(terms)


def prefer(comparison: Comparison, weight: float = 1.0) -> Term:
    """Adds `weight` for workers for which the comparison is true."""
    if not isinstance(comparison, Comparison):
        raise TypeError('prefer needs a comparison, such as label("region") == "eu"')
    return Term("prefer", float(weight), comparison=comparison)


def least(selector: Selector, weight: float = 1.0) -> Term:
    """Ranks workers with a lower value of the property higher."""
    return Term("least", float(weight), selector=selector.text)


def most(selector: Selector, weight: float = 1.0) -> Term:
    """Ranks workers with a higher value of the property higher."""
    return Term("most", float(weight), selector=selector.text)


def sticky(weight: float = 1.0) -> Term:
    """Adds `weight` for the caller's preferred worker."""
    return Term("sticky", float(weight))


def label(key: str) -> Selector:
    """Selects a label of the worker."""
    return Selector(f"label:{key}")


def metric(key: str) -> Selector:
    """Selects a metric that the worker reports."""
    return Selector(f"metric:{key}")


def resource(field: str) -> Selector:
    """Selects a resource of the worker, such as `memory_available`."""
    if field not in _RESOURCES:
        raise ValueError(f"the resource must be one of {', '.join(sorted(_RESOURCES))}")
    return Selector(f"resource:{field}")


def input(path: str) -> Input:  # noqa: A001 (its name in workflow sources)
    """Refers to a value of the execution's input, such as `"customer.region"`."""
    return Input(path)


class Load(Selector):
    """Selects the number of executions that the worker runs: `load`, or `load()`."""

    def __call__(self) -> Load:
        """Returns the selector itself."""
        return self


load = Load("load")

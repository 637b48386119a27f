"""How a workflow says which of the workers that could run it should.

    routing=score(prefer(label("region") == input("customer.region"), weight=10), least(load))

These are data: the service reads them from the source and does the choosing.
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
    """A value inside of the execution's input, `"a.b"` for `input["a"]["b"]`."""

    path: str

    def to_dict(self) -> dict[str, str]:
        """As the service reads it."""
        return {"$input": self.path}


@dataclass(frozen=True, slots=True)
class Comparison:
    """A question about a worker."""

    selector: str
    op: str
    value: Any

    def to_dict(self) -> dict[str, Any]:
        """As the service reads it."""
        value = self.value.to_dict() if isinstance(self.value, Input) else self.value
        return {"selector": self.selector, "op": self.op, "value": value}


@dataclass(frozen=True, slots=True, eq=False)
class Selector:
    """Something that is known of a worker. Comparing it makes a Comparison."""

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
    """One reason to choose a worker, and how much it weighs."""

    kind: str
    weight: float
    comparison: Comparison | None = None
    selector: str | None = None

    def __post_init__(self) -> None:
        if not (math.isfinite(self.weight) and self.weight > 0):
            raise ValueError("a weight is a positive number")

    def to_dict(self) -> dict[str, Any]:
        """As the service reads it."""
        about: dict[str, Any] = self.comparison.to_dict() if self.comparison else {}
        if self.selector:
            about = {"selector": self.selector}
        return {"kind": self.kind, **about, "weight": self.weight}


@dataclass(frozen=True, slots=True)
class Score:
    """All reasons together: the worker with the highest sum is chosen."""

    terms: tuple[Term, ...]

    def to_dict(self) -> dict[str, Any]:
        """As the service reads it."""
        return {"terms": [term.to_dict() for term in self.terms]}


def score(*terms: Term) -> Score:
    """The whole policy."""
    if not terms:
        raise ValueError("a score has at least one term")
    return Score(terms)


def prefer(comparison: Comparison, weight: float = 1.0) -> Term:
    """Workers for which the comparison holds."""
    if not isinstance(comparison, Comparison):
        raise TypeError('prefer takes a comparison, such as label("region") == "eu"')
    return Term("prefer", float(weight), comparison=comparison)


def least(selector: Selector, weight: float = 1.0) -> Term:
    """Workers that have little of it."""
    return Term("least", float(weight), selector=selector.text)


def most(selector: Selector, weight: float = 1.0) -> Term:
    """Workers that have much of it."""
    return Term("most", float(weight), selector=selector.text)


def sticky(weight: float = 1.0) -> Term:
    """The worker that the caller prefers."""
    return Term("sticky", float(weight))


def label(key: str) -> Selector:
    """A label of the worker."""
    return Selector(f"label:{key}")


def metric(key: str) -> Selector:
    """A number that the worker reports."""
    return Selector(f"metric:{key}")


def resource(field: str) -> Selector:
    """A resource of the worker, such as `memory_available`."""
    if field not in _RESOURCES:
        raise ValueError(f"a resource is one of {', '.join(sorted(_RESOURCES))}")
    return Selector(f"resource:{field}")


def input(path: str) -> Input:  # noqa: A001 (its name in workflow sources)
    """A value of the execution's input."""
    return Input(path)


load = Selector("load")

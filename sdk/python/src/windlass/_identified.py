"""Objects that have an identity of their own in call ids, above all the calls of tasks."""

from __future__ import annotations


class Identified:
    """Object that `__windlass_id__` identifies, whatever it contains."""

    __slots__ = ("__windlass_id__",)

    __windlass_id__: str

"""Limits of the control groups (Linux, v1 and v2) in which this process runs, as containers set."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_ROOT = Path("/")
# Version 1 shows "no limit" as the largest multiple of the page size.
_UNLIMITED_BYTES = 2**60


@dataclass(frozen=True, slots=True)
class CgroupLimits:
    """Limits of all groups around this process; None: no limit. Memory is in bytes."""

    processors: float | None = None
    memory: int | None = None
    memory_available: int | None = None


def read_limits(root: Path = _ROOT) -> CgroupLimits:
    """Returns the smallest limits of the group of this process and of the groups around it."""
    processors: list[float] = []
    memory: list[tuple[int, int]] = []
    for folder, is_v2 in _folders(root):
        with suppress(OSError, ValueError, IndexError, ZeroDivisionError):
            processors += _processors(folder, is_v2)
        with suppress(OSError, ValueError):
            memory += _memory(folder, is_v2)
    return CgroupLimits(
        min(processors, default=None),
        min((limit for limit, _ in memory), default=None),
        min((max(0, limit - used) for limit, used in memory), default=None),
    )


def _folders(root: Path) -> Iterator[tuple[Path, bool]]:
    """Yields the folders of the groups, each with True for version 2."""
    try:
        lines = (root / "proc/self/cgroup").read_text().splitlines()
    except OSError:
        return
    base = root / "sys/fs/cgroup"
    for line in lines:
        _, controllers, path = line.split(":", 2)
        group = Path(path.lstrip("/"))
        if not controllers:
            mount = base
        elif {"cpu", "memory"} & set(controllers.split(",")):
            mount = base / controllers
        else:
            continue
        # A container may see its own group as the root while the path is that of the host.
        for part in (group, *group.parents):
            yield mount / part, not controllers


def _processors(folder: Path, is_v2: bool) -> list[float]:
    if is_v2:
        quota, period = (folder / "cpu.max").read_text().split()
    else:
        quota = (folder / "cpu.cfs_quota_us").read_text()
        period = (folder / "cpu.cfs_period_us").read_text()
    return [int(quota) / int(period)] if quota.strip() not in {"max", "-1"} else []


def _memory(folder: Path, is_v2: bool) -> list[tuple[int, int]]:
    names = ("memory.max", "memory.current")
    if not is_v2:
        names = ("memory.limit_in_bytes", "memory.usage_in_bytes")
    limit, used = ((folder / name).read_text().strip() for name in names)
    if limit == "max" or int(limit) >= _UNLIMITED_BYTES:
        return []
    return [(int(limit), int(used))]

"""Limits of control groups, read from files as the kernel shows them."""

from __future__ import annotations

from pathlib import Path

import pytest

from windlass.worker import _system_info
from windlass.worker._cgroup import CgroupLimits, read_limits

GIB = 2**30


def write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n")


def test_version_2_takes_the_smallest_limit_of_all_groups_around(tmp_path: Path) -> None:
    group = "sys/fs/cgroup/pod"
    files = {
        "proc/self/cgroup": "0::/pod/worker",
        f"{group}/worker/cpu.max": "max 100000",
        f"{group}/worker/memory.max": str(2 * GIB),
        f"{group}/worker/memory.current": str(GIB // 2),
        f"{group}/cpu.max": "150000 100000",
        f"{group}/memory.max": str(3 * GIB),
        f"{group}/memory.current": str(2 * GIB),
    }
    write(tmp_path, files)
    assert read_limits(tmp_path) == CgroupLimits(1.5, 2 * GIB, GIB)


def test_version_1_reads_each_controller(tmp_path: Path) -> None:
    base = "sys/fs/cgroup"
    files = {
        "proc/self/cgroup": "5:memory:/job\n4:cpu,cpuacct:/job\n1:name=systemd:/job",
        f"{base}/cpu,cpuacct/job/cpu.cfs_quota_us": "50000",
        f"{base}/cpu,cpuacct/job/cpu.cfs_period_us": "100000",
        f"{base}/memory/job/memory.limit_in_bytes": str(GIB),
        f"{base}/memory/job/memory.usage_in_bytes": "0",
        f"{base}/memory/memory.limit_in_bytes": "9223372036854771712",
        f"{base}/memory/memory.usage_in_bytes": "7",
    }
    write(tmp_path, files)
    assert read_limits(tmp_path) == CgroupLimits(0.5, GIB, GIB)


@pytest.mark.parametrize(
    "files",
    [
        {},
        {"proc/self/cgroup": "0::/"},
        {"proc/self/cgroup": "0::/", "sys/fs/cgroup/cpu.max": "max 100000"},
        {"proc/self/cgroup": "4:cpu:/", "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1"},
        {"proc/self/cgroup": "0::/", "sys/fs/cgroup/memory.max": "what"},
    ],
)
def test_no_limit(tmp_path: Path, files: dict[str, str]) -> None:
    write(tmp_path, files)
    assert read_limits(tmp_path) == CgroupLimits()


def test_resources_honour_the_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    total, _ = _system_info.memory()
    monkeypatch.setattr(_system_info, "read_limits", lambda: CgroupLimits(0.5, GIB // 4, GIB // 8))
    resources = _system_info.resources()
    assert resources["cpu_total"] == 0.5
    assert (resources["memory_total"], resources["memory_available"]) == (GIB // 4, GIB // 8)
    huge = CgroupLimits(1e6, 2 * total, 2 * total)
    monkeypatch.setattr(_system_info, "read_limits", lambda: huge)
    assert _system_info.resources()["memory_total"] == total
    assert _system_info.resources()["cpu_total"] == int(_system_info.processors())

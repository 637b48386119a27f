"""Facts about the machine that a worker reports at registration."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

from windlass.worker._cgroup import read_limits

MIB = 1024 * 1024
GPU_QUERY_TIMEOUT_S = 5.0


def runtime() -> dict[str, str]:
    """Returns operating system and Python version."""
    return {
        "os_name": platform.system(),
        "os_version": platform.release(),
        "python_version": platform.python_version(),
    }


def packages() -> list[dict[str, str]]:
    """Returns the installed Python packages with their versions."""
    versions = {
        name.lower(): installed.version
        for installed in distributions()
        if (name := installed.metadata["Name"])
    }
    return [{"name": name, "version": version} for name, version in sorted(versions.items())]


def resources() -> dict[str, Any]:
    """Returns total and available resources: sizes in bytes, GPU memory in MiB."""
    total = processors()
    memory_total, memory_available = memory()
    disk = shutil.disk_usage(Path.cwd())
    return {
        "cpu_total": total,
        "cpu_available": max(0.0, round(total - load(), 2)),
        "memory_total": memory_total,
        "memory_available": memory_available,
        "disk_total": disk.total,
        "disk_free": disk.free,
        "gpus": gpus(),
    }


def processors() -> float:
    """Returns how many processors this process may use; control groups allow parts of one."""
    has_affinity = hasattr(os, "sched_getaffinity")
    total = len(os.sched_getaffinity(0)) if has_affinity else os.cpu_count() or 1
    limit = read_limits().processors
    return total if limit is None else min(total, round(limit, 2))


def load() -> float:
    """Returns the load average of one minute; 0 if the system has none."""
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0


def memory() -> tuple[int, int]:
    """Returns total and available memory in bytes, within the limits of control groups."""
    total, available = _memory_of_machine()
    limits = read_limits()
    if limits.memory is None or limits.memory_available is None:
        return total, available
    return min(total or limits.memory, limits.memory), min(
        available or limits.memory_available, limits.memory_available
    )


def _memory_of_machine() -> tuple[int, int]:
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return _memory_of_posix()
    sizes = {name: value for name, _, value in (line.partition(":") for line in lines)}
    kilobytes = [int(sizes[name].split()[0]) for name in ("MemTotal", "MemAvailable")]
    return kilobytes[0] * 1024, kilobytes[1] * 1024


def gpus() -> list[dict[str, Any]]:
    """Returns the NVIDIA GPUs; an empty list without `nvidia-smi`."""
    tool = shutil.which("nvidia-smi")
    if not tool:
        return []
    query = [tool, "--query-gpu=name,memory.total,memory.free", "--format=csv,noheader,nounits"]
    try:
        process = subprocess.run(
            query, capture_output=True, text=True, timeout=GPU_QUERY_TIMEOUT_S, check=True
        )
        rows = [line.split(", ") for line in process.stdout.strip().splitlines()]
        return [
            {"name": name, "memory_total": int(total), "memory_available": int(free)}
            for name, total, free in rows
        ]
    except (OSError, ValueError, subprocess.SubprocessError):
        return []


def _memory_of_posix() -> tuple[int, int]:
    try:
        total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return 0, 0
    return total, total

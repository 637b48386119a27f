"""Resource requests of workflows."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ResourceRequest:
    """Resources that a worker must have free to run the workflow.

    cpu: number of processors. memory, disk: bytes, or text such as `"4Gi"`. gpu: number of GPUs
    with free memory. packages: names of Python packages with an optional `==version` or
    `>=version`.
    """

    cpu: float | None = None
    memory: int | str | None = None
    gpu: int | None = None
    disk: int | str | None = None
    packages: list[str] | None = None

    @classmethod
    def with_cpu(cls, cpu: float) -> ResourceRequest:
        """Requests a number of processors."""
        return cls(cpu=cpu)

    @classmethod
    def with_memory(cls, memory: int | str) -> ResourceRequest:
        """Requests memory: bytes, or text such as `"4Gi"`."""
        return cls(memory=memory)

    @classmethod
    def with_gpu(cls, gpu: int) -> ResourceRequest:
        """Requests a number of GPUs with free memory."""
        return cls(gpu=gpu)

    @classmethod
    def with_disk(cls, disk: int | str) -> ResourceRequest:
        """Requests disk space: bytes, or text such as `"4Gi"`."""
        return cls(disk=disk)

    @classmethod
    def with_packages(cls, packages: list[str]) -> ResourceRequest:
        """Requests installed Python packages, such as `"numpy>=2"`."""
        return cls(packages=packages)

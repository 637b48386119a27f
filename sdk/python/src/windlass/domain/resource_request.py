"""What a workflow needs of the worker that runs it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ResourceRequest:
    """Amounts that a worker must have free. Memory and disk: bytes, or text such as `"4Gi"`.

    `packages` are names with an optional `==version` or `>=version`.
    """

    cpu: float | None = None
    memory: int | str | None = None
    gpu: int | None = None
    disk: int | str | None = None
    packages: list[str] | None = None

    @classmethod
    def with_cpu(cls, cpu: float) -> ResourceRequest:
        """A number of processors."""
        return cls(cpu=cpu)

    @classmethod
    def with_memory(cls, memory: int | str) -> ResourceRequest:
        """An amount of memory."""
        return cls(memory=memory)

    @classmethod
    def with_gpu(cls, gpu: int) -> ResourceRequest:
        """A number of GPUs that have memory free."""
        return cls(gpu=gpu)

    @classmethod
    def with_disk(cls, disk: int | str) -> ResourceRequest:
        """An amount of disk."""
        return cls(disk=disk)

    @classmethod
    def with_packages(cls, packages: list[str]) -> ResourceRequest:
        """Installed Python packages."""
        return cls(packages=packages)

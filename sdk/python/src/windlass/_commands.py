"""Commands of the package. They name the extra to install if its packages are missing."""

from __future__ import annotations

import sys


def worker() -> int:
    """`windlass-worker`: runs the worker's command line and returns its exit code."""
    try:
        from windlass.worker._cli import main
    except ModuleNotFoundError as error:
        if error.name != "aiohttp":
            raise
        print(  # noqa: T201
            "windlass-worker: the package aiohttp is missing; "
            "install it with: pip install 'windlass[worker]'",
            file=sys.stderr,
        )
        return 2
    return main()


def check() -> int:
    """`windlass-check`: runs its command line and returns its exit code."""
    try:
        from windlass.check._cli import main

        return main()
    except ImportError as error:
        if "windlass[client]" not in str(error):
            raise
        print(f"windlass-check: {error}", file=sys.stderr)  # noqa: T201
        return 2

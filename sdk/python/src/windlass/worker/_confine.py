"""Confinement of processes that run workflows, as far as a process may restrict itself."""

from __future__ import annotations

import ctypes
import os
import re
import signal
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from fnmatch import fnmatchcase
from pathlib import Path

_PR_SET_PDEATHSIG = 1
_PR_SET_DUMPABLE = 4

# The kernel then ends a child, not the worker, when the machine has no memory left.
_OOM_SCORE = "500"

# What code needs to find its interpreter, its packages, its time zone and its way into the network.
_PASSED = re.compile(
    r"(PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|LC_\w+|TZ|TMPDIR|TERM|PWD|VIRTUAL_ENV"
    r"|LD_LIBRARY_PATH|DYLD_\w*LIBRARY_PATH|PYTHON\w*|COVERAGE_\w+"
    r"|SSL_CERT_FILE|SSL_CERT_DIR|REQUESTS_CA_BUNDLE|CURL_CA_BUNDLE"
    r"|(?i:(HTTP|HTTPS|ALL|NO)_PROXY))"
)


def scrub_environment(
    environment: Mapping[str, str], pass_env: Sequence[str] = ()
) -> dict[str, str]:
    """Returns the variables for workflows: an allow-list, and names or patterns that were added."""
    return {
        name: text
        for name, text in environment.items()
        if _PASSED.fullmatch(name) or any(fnmatchcase(name, pattern) for pattern in pass_env)
    }


def forbid_inspection() -> None:
    """Hides memory, environment and open files of this process from others of the same user.

    Effective on Linux for users other than root; elsewhere it does nothing.
    """
    _prctl(_PR_SET_DUMPABLE, 0)


def end_with_parent(parent: int) -> None:
    """Ends this process when its parent ends, also if its code blocks. Linux only."""
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def prefer_for_oom_kill() -> None:
    """Makes this process the one that is ended if the machine has no memory left."""
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text(_OOM_SCORE)


def keep_from_forks(descriptor: int) -> None:
    """Replaces an open file by the null device in processes that this one forks or starts.

    Otherwise a copy that outlives this process would keep a connection open, whose other end waits
    for its end.
    """
    os.set_inheritable(descriptor, False)

    def detach() -> None:
        # Replaced, not closed: another file could get the number, and messages would go there.
        null = os.open(os.devnull, os.O_RDWR)
        os.dup2(null, descriptor, inheritable=False)
        os.close(null)

    os.register_at_fork(after_in_child=detach)


def resident_bytes(pid: int) -> int:
    """Returns the memory that a process occupies, in bytes; 0 if unknown."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except (OSError, ValueError, IndexError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(option, value, 0, 0, 0)

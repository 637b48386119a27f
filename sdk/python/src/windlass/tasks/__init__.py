"""Built-in tasks."""

from windlass.tasks._as_completed import as_completed
from windlass.tasks._call import call
from windlass.tasks._first import first
from windlass.tasks._graph import Graph
from windlass.tasks._parallel import parallel
from windlass.tasks._pause import pause
from windlass.tasks._pipeline import pipeline
from windlass.tasks._progress import progress
from windlass.tasks._saga import saga
from windlass.tasks._sleep import sleep
from windlass.tasks._start import StartedWorkflow, start
from windlass.tasks._values import choice, now, randint, randrange, uuid4

__all__ = [
    "Graph",
    "StartedWorkflow",
    "as_completed",
    "call",
    "choice",
    "first",
    "now",
    "parallel",
    "pause",
    "pipeline",
    "progress",
    "randint",
    "randrange",
    "saga",
    "sleep",
    "start",
    "uuid4",
]

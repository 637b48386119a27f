"""`windlass-check`: compares a changed source with the executions that are in flight.

    windlass-check orders.py --server https://windlass.example

replays the unfinished executions of the file's workflows against the file, in memory and without
running anything new, and prints one line for each. `windlass.testing._comparison` describes the
verdicts. `--lint` looks for code of workflows whose result differs between runs.
"""

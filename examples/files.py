"""A table that is too large for the event log: it is stored in a file, and the log refers to it.

The input is a folder that all workers share; its `*.csv` files have the columns `city` and `sales`.
`LocalFileStorage` stores any value, including data frames of pandas or polars.
"""

import csv
from array import array
from pathlib import Path

from windlass import ExecutionContext, LocalFileStorage, task, workflow

Table = dict[str, "array[float]"]


@task
def list_files(folder: str) -> list[Path]:
    return sorted(Path(folder).glob("*.csv"))


@task.with_options(output_storage=LocalFileStorage("tables"))
def read_table(files: list[Path]) -> Table:
    table: Table = {}
    for file in files:
        with file.open(newline="") as lines:
            for row in csv.DictReader(lines):
                table.setdefault(row["city"], array("d")).append(float(row["sales"]))
    return table


@task
def add_sales(city: str, sales: list[float]) -> float:
    return round(sum(sales), 2)


@workflow
async def sum_sales(ctx: ExecutionContext[str]) -> dict[str, float]:
    table = await read_table(await list_files(ctx.input))
    return {city: await add_sales(city, list(sales)) for city, sales in sorted(table.items())}

"""Celery: one Client of the module, used before the pool forks; the queue is a folder."""

import os

from celery import Celery, Task
from shop import Order, described, pay

from windlass.client import Client

FOLDER = os.environ["CELERY_FOLDER"]
client = Client(os.environ["WINDLASS_URL"])
described(client.run(pay, Order(0, "the parent")))
app = Celery("shop", broker="filesystem://", backend=f"file://{FOLDER}/results")
app.conf.broker_transport_options = {
    "data_folder_in": f"{FOLDER}/queue",
    "data_folder_out": f"{FOLDER}/queue",
    "control_folder": f"{FOLDER}/control",
}


@app.task(bind=True)
def pay_order(self: Task, order_id: int) -> str:
    key = self.request.id
    return described(client.run(pay, Order(order_id, "Celery"), idempotency_key=key))


@app.task
def start_twice(key: str) -> list[str]:
    """Starts what a task that is delivered twice starts; returns the ids of the executions."""
    return [
        client.start(pay, Order(1, "twice"), idempotency_key=key).execution_id for _ in range(2)
    ]

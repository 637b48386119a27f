"""Flask under Gunicorn with `--preload`: the client is used before the workers are forked."""

import os

from flask import Flask
from shop import Order, described, pay

from windlass.client import Client

client = Client(os.environ["WINDLASS_URL"])
before_fork = described(client.run(pay, Order(0, "the parent")))
app = Flask(__name__)


@app.get("/before")
def before() -> str:
    return before_fork


@app.get("/pay/<int:order_id>")
def pay_order(order_id: int) -> str:
    return described(client.run(pay, Order(order_id, "Flask")))

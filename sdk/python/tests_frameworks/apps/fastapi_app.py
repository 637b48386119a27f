"""FastAPI: one AsyncClient for the life of the application, and a Client in `def` endpoints."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI, Request
from shop import Order, Receipt, described, pay

from windlass.client import AsyncClient, Client

URL = os.environ["WINDLASS_URL"]
client = Client(URL)


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    async with AsyncClient(URL) as own:
        app.state.windlass = own
        yield


app = FastAPI(lifespan=lifespan)


@app.post("/pay")
async def pay_order(order: Order, request: Request) -> Receipt:
    return await request.app.state.windlass.run(pay, order)


@app.get("/def/{order_id}")
def pay_in_thread(order_id: int) -> str:
    return described(client.run(pay, Order(order_id, "a thread")))

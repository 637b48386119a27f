"""Django: a synchronous view for WSGI, and two asynchronous ones for ASGI."""

import os

import django
from asgiref.sync import sync_to_async
from django.conf import settings
from django.core.handlers.asgi import ASGIHandler
from django.core.handlers.wsgi import WSGIHandler
from django.http import HttpRequest, HttpResponse
from django.urls import path
from shop import Order, described, pay

from windlass.client import AsyncClient, Client

URL = os.environ["WINDLASS_URL"]
client = Client(URL)


def pay_order(_request: HttpRequest, order_id: int) -> HttpResponse:
    return HttpResponse(described(client.run(pay, Order(order_id, "Django"))))


async def pay_in_thread(_request: HttpRequest, order_id: int) -> HttpResponse:
    return HttpResponse(
        described(await sync_to_async(client.run)(pay, Order(order_id, "a thread")))
    )


async def pay_async(_request: HttpRequest, order_id: int) -> HttpResponse:
    async with AsyncClient(URL) as own:
        return HttpResponse(described(await own.run(pay, Order(order_id, "the request"))))


urlpatterns = [
    path("pay/<int:order_id>", pay_order),
    path("thread/<int:order_id>", pay_in_thread),
    path("async/<int:order_id>", pay_async),
]
settings.configure(ROOT_URLCONF=__name__, ALLOWED_HOSTS=["127.0.0.1"], SECRET_KEY="of a test")
django.setup()
wsgi, asgi = WSGIHandler(), ASGIHandler()

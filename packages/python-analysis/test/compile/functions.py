return 1
# ----
class A:
    return
# ----
yield 1
# ----
class A:
    x = yield
# ----
x = lambda: 1
await x
# ----
def f():
    await g()
# ----
def f():
    async for x in y: pass
# ----
def f():
    async with x: pass
# ----
f = lambda: await g()
# ----
async def f():
    class A:
        await g()
# ----
async def f():
    yield 1
    return 2
# ----
async def f():
    return 2
    yield 1
# ----
async def f():
    yield from g()
# ----
def f():
    from os import *
# ----
class A:
    from os import *

def f():
    return [x async for x in y]
# ----
[x async for x in y]
# ----
def f():
    return {await x for x in y}
# ----
async def f():
    return lambda: {x: 1 async for x in y}
# ----
def f():
    return [[x async for x in y] for z in w]
# ----
def f():
    return [(yield x) for x in y]
# ----
def f():
    return {(yield x) for x in y}
# ----
def f():
    return {x: (yield) for x in y}
# ----
def f():
    return ((yield from x) for x in y)
# ----
[x for x in (y := z)]
# ----
[x for x in y for z in (w := 1)]
# ----
[x for x in (lambda: (y := 1))()]
# ----
[(x := 1) for x in y]
# ----
[[(x := 1) for z in y] for x in y]
# ----
[x for x in y if (z := x) for z in y]
# ----
class A:
    x = [(y := 1) for z in w]

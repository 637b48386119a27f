def f(): return; yield
# ----
async def f():
    yield 1
    return
# ----
async def f():
    def g(): yield 1
    return g, lambda: (yield)
# ----
async def f():
    return [x async for x in y], [await x for x in y]
# ----
def f():
    return (x async for x in y), (await x for x in y)
# ----
(await x for x in y)
# ----
async def f():
    return [[x async for x in y] for z in w]
# ----
def f():
    return ([x async for x in y] for z in w)
# ----
def f():
    return [x for x in (yield)]
# ----
async def f():
    return [x for x in await y]
# ----
def f():
    def g(x: (yield)) -> (yield): pass
# ----
def f():
    x: (yield)
    y: [await z]
# ----
def f(x=lambda: (yield)): pass
# ----
while x:
    for y in z: pass
    else: break
# ----
for x in y:
    try: pass
    except: continue
    finally: break
# ----
def f():
    for x in y:
        try: pass
        except* E:
            for z in x: break
            def g(): return 1
    return 1
# ----
try: pass
except* E: pass
except* F: pass
else: pass
# ----
for x in y:
    class A: pass
    break
# ----
[(z := x) for x in y]
# ----
[(z := 1) for x in y for w in z]
# ----
class A:
    x = lambda: [(y := 1) for z in w]
# ----
[x for x in (lambda y=1: y)()]
# ----
def f():
    print((x := 1), [y for y in x])
    return x
# ----
def f():
    global x, y
    global x
    x = y = 1
# ----
def f():
    import x
    global x
# ----
def f():
    lambda x: x
    [x for x in y]
    a.x, a(x=1)
    global x
# ----
def f():
    # x
    "x"
    y.x = 1
    global x
# ----
def f(y):
    match y:
        case A(x=1): pass
        case x.y: pass
# ----
def f():
    def g(x: x = 1): pass
    y: x = 1
# ----
def f():
    x = 1
    def g():
        nonlocal x
        def h():
            nonlocal x
# ----
def f():
    def g():
        nonlocal x
    for x in y: pass
# ----
def f():
    def g():
        nonlocal x
    if (x := 1): pass
# ----
class A:
    def f(self):
        nonlocal __class__
# ----
class A:
    def f(self):
        x = 1
        class B:
            nonlocal x
# ----
global x
x: int = 1
# ----
class A:
    global x
    x = 1
# ----
if __debug__: print(__debug__, x.__debug__)
# ----
from . import *
# ----
"a"
from __future__ import annotations, division
from __future__ import generators; x = 1
# ----
# a

from __future__ import (annotations as a,)
# ----
a, *b = c
# ----
[a, *b], *c = d
# ----
*a, = b
# ----
for *a, b in c: pass
# ----
(a) = (b) = [c] = d
# ----
(a): int = 1
# ----
a.b: int
# ----
a[b]: int = 1
# ----
x = *a, *b
# ----
x = [*a, *b.c(), *d[1]], {*a}, (*a, b), f(*a, *b)
# ----
return_ = x[*a], x[*a, 1]
# ----
def f():
    return *a, b
# ----
def f():
    yield *a, b
# ----
for x in *a, b: pass
# ----
def f(*a: *b): pass
# ----
del a, (b, c), [d, e.f], g[1], (h)
# ----
with a as b, c as d.e, f as (g, *h), i as [j]: pass
# ----
with (a as b, c as d): pass
# ----
with (a as b): pass
# ----
with (a, b) as c: pass
# ----
f(a, *b, c=1, *d, e=2, **g, h=3)
# ----
f(x for x in y)
# ----
f(a := 1, b)
# ----
class A(*b, c=1, **d): pass
# ----
def f(a, b=1, /, c=2, *, d, e=3, **g): pass
# ----
def f(a, /, *, b): pass
# ----
lambda a, b=1, *c, d, **e: 1
# ----
match x:
    case 1 | 2: pass
    case y if y: pass
    case _: pass
# ----
match x:
    case [y] | (y, _) | {"a": y}: pass
    case (_): pass
# ----
match x:
    case a.b: pass
    case A(b, c=d) as e: pass
    case [*_, f]: pass
    case {1: _, "1": _, **r}: pass
    case 1, *g: pass
# ----
match x:
    case -1 | 1.5 | 1+2j | "a" "b" | None | True: pass
    case _: pass
# ----
match x:
    case {"a": 1, a.b: 2, a.b: 3}: pass
# ----
match = case = type = _ = print = 1
# ----
type(x).y = 1
# ----
type[x] = 1
# ----
if (x := 1) and (y := 2): pass
# ----
x[y := 1], x[(y := 1):2], {(z := 1)}, [z := 2, 3]
# ----
async def f():
    return -await x, await x ** 2, await (await y)
# ----
print >> x, y
# ----
0, 00, 0_0, 0x_f, 0b1, 0o7, 1_000.5e-1_0j, .5, 5., 0777.5, 09e1, 1if x else 2, 1or 2
# ----
x = 1 .real, 1..real, 0xfor 1
# ----
"\N{BULLET} \x41 \u0041 \U0010ffff \777 \d", r"\x", rb"\x", rf"\x"
# ----
x = ...
y = 1.
z = x.y
# ----
f"{(lambda: 1)} {x!r:>{y}}"
# ----
if x:pass
elif"a":pass
assert"a"
x = y if"a"else"b"
# ----
x = [1,
2
,
3] + \
[4]
# ----
è = 1; ℘ = 2; a·b = 3

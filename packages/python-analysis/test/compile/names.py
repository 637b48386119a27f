def f(a, a): pass
# ----
def f(a, *, b, **a): pass
# ----
lambda a, *a: 1
# ----
def f():
    x = 1
    global x
# ----
def f():
    print(x)
    global x
# ----
def f():
    x: int
    global x
# ----
def f(x):
    global x
# ----
def f():
    global x
    x: int = 1
# ----
x = 1
global x
# ----
def f():
    [x for x in x]
    global x
# ----
def f():
    [(x := 1) for y in z]
    global x
# ----
nonlocal x
# ----
x = 1
def f():
    nonlocal x
# ----
def f():
    x = 1
    class A:
        def g(self):
            nonlocal y
# ----
def f():
    global x
    def g():
        nonlocal x
# ----
def f():
    x = 1
    def g(x):
        nonlocal x
# ----
def f():
    x = 1
    def g():
        x = 2
        nonlocal x
# ----
def f():
    x = 1
    def g():
        x()
        nonlocal x
# ----
def f():
    x = 1
    def g():
        nonlocal x
        x: int
# ----
def f():
    x = 1
    def g():
        global x; nonlocal x
# ----
class A:
    print(x)
    global x
# ----
def f():
    class x: pass
    global x
# ----
def f():
    for x in y: pass
    global x
# ----
def f[T, T](): pass
# ----
class A[T, *T]: pass
# ----
type A[T, T] = T
# ----
type A = (yield)
# ----
async def f():
    type A = await x
# ----
class A[T: (x := 1)]: pass
# ----
def f():
    class A[T]((yield)): pass
# ----
def f():
    def g[T](x: (yield)): pass
# ----
from __future__ import annotations
def f():
    def g(x: (yield)): pass
# ----
from __future__ import annotations
async def f():
    def g(x) -> (await y): pass
# ----
class A[*T: int]: pass
# ----
__debug__ = 1
# ----
def f(__debug__): pass
# ----
f(__debug__=1)
# ----
x.__debug__ = 1
# ----
del __debug__
# ----
import x as __debug__
# ----
for __debug__ in x: pass

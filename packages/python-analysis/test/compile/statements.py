raise a, b
# ----
assert a, b, c
# ----
import a,
# ----
from a import b,
# ----
x = a <> b
# ----
[x for x in 1, 2]
# ----
x := 1
# ----
x = y := 1
# ----
f(a=b := 1)
# ----
return_ = lambda: x := 1
# ----
async def f():
    await -x
# ----
async def f():
    await await x
# ----
"a" b"b"
# ----
f"{lambda x: 1}"
# ----
exec "x"

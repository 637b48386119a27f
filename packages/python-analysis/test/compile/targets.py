a, *b, *c = d
# ----
[*a, *b] = c
# ----
for a, *b, *c in d: pass
# ----
*a = b
# ----
*a
# ----
x = *a
# ----
x = (*a)
# ----
(*a), b = c
# ----
return_ = [*x for x in y]
# ----
x += *a
# ----
del f()
# ----
del a, 1
# ----
del (a, b + c)
# ----
del [a, "b"]
# ----
del *a, b
# ----
del {a}
# ----
with a as f(): pass
# ----
with a as 1: pass
# ----
with (a as b + c): pass
# ----
with a as (b, 1): pass
# ----
x = (a as b)
# ----
a, b: int = 1
# ----
[a]: int
# ----
(a, b): int
# ----
a, b += 1
# ----
[a] += 1
# ----
x = y += 1
# ----
x = y: int = 1
# ----
x: int = y = 1
# ----
x: *a
# ----
def f(x: *a): pass

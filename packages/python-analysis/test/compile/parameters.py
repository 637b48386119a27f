def f(a=1, b): pass
# ----
lambda a=1, b: 1
# ----
def f(*): pass
# ----
def f(*, **a): pass
# ----
def f(*a, *b): pass
# ----
def f(/): pass
# ----
def f(a, /, b, /): pass
# ----
def f(*a, b, /): pass
# ----
def f(**a, b): pass
# ----
def f((a, b)): pass
# ----
lambda (a, b): 1

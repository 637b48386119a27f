match x:
    case _: pass
    case 1: pass
# ----
match x:
    case y: pass
    case 1: pass
# ----
match x:
    case (y): pass
    case 1: pass
# ----
match x:
    case 1 as z: pass
    case y as z: pass
    case 1: pass
# ----
match x:
    case y | 1: pass
# ----
match x:
    case 1 | _ | 2: pass
# ----
match x:
    case [y] | [z]: pass
# ----
match x:
    case [y, y]: pass
# ----
match x:
    case [y, *y]: pass
# ----
match x:
    case A(y, b=y): pass
# ----
match x:
    case (1 as y) as y: pass
# ----
match x:
    case [*y, *z]: pass
# ----
match x:
    case *y, z, *_: pass
# ----
match x:
    case {"a": 1, "a": 2}: pass
# ----
match x:
    case {0: 1, False: 2}: pass
# ----
match x:
    case {**r, "a": 1}: pass
# ----
match x:
    case A(b=1, b=2): pass
# ----
match x:
    case A(b=1, 2): pass
# ----
match x:
    case 1 as _: pass

x = 1
from __future__ import annotations
# ----
"a"
"b"
from __future__ import annotations
# ----
def f():
    from __future__ import annotations
# ----
from __future__ import nothing
# ----
from __future__ import braces

break
# ----
continue
# ----
def f():
    continue
# ----
for x in y:
    def f():
        break
# ----
for x in y:
    class A:
        continue
# ----
while x: pass
else:
    break
# ----
for x in y:
    try: pass
    except* E:
        break
# ----
def f():
    for x in y:
        try: pass
        except* E:
            if x: continue
# ----
def f():
    try: pass
    except* E:
        for x in y: return
# ----
try: pass
except: pass
except E: pass
# ----
try: pass
except E: pass
except* F: pass
# ----
try: pass
except*: pass

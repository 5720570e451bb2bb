try:
    import a
except (A, B) as e: pass
except C:
    raise
except:
    raise D("x") from e
else:
    pass
finally:
    pass
with a: pass
with a as b, c(): pass
with (a as b, c, d as (e, f),):
    pass
with (a, b): pass
with (a): pass
with (a, b) as c: pass
with (yield): pass
try:
    pass
except* E:
    pass

import a, b.c as d
from . import x
from .. import (y as z, w,)
from ...a.b import *
a = b = c, d = e
x: int
x.y: "T" = 3
x[0] += 1; y **= 2; z //= 3; m @= n; p >>= 1
(x): int = 1
global g, h
nonlocal i
assert a
assert a, f"message {a}"
def f():
    return
    return a, *b
*a, b = c
pass; pass

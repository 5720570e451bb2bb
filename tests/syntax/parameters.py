def a(x=1, y): pass
def b(x, y, x): pass
def c(*, **k): pass
def d(**k, x): pass
def e(*a, *b): pass
def g(/, x): pass
def h(x, *, y=1, z, **k): pass
lambda x=1, y: x

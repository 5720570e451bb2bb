f()
f(a, b=1, *c, d=2, **e,)
f(x for x in y)
f(n := 3)
f(*a or b, **c if d else e)
f(a)(b)[c].d
f(
    a,  # comment
    b,

    c=1,
)

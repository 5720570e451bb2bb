a = ()
b = (1,)
c = 1, *d
e = [], [1, *f], [x for x in y if x if z for w in x]
g = {}, {1: 2, **h}, {k: v for k, v in i}
j = {1, *k}, {x for x in y}
l = (x async for x in y), (x for x, *y in z)

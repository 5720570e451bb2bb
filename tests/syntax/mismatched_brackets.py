a = nl.load(x[i, 0:4)
b = (1 + 2]
c = d)
e = 1

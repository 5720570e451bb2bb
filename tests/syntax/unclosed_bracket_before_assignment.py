def kernel(x, i):
    a = nl.load(x[i, 0:4]
    out = nl.exp(a)
    return out

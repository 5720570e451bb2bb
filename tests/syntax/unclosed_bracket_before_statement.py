def kernel(x):
    a = nl.load(x[0:4], dtype=nl.float32
    for i in range(4):
        a = a + i
    b = foo(1, [2, 3)
    return a

def other(x):
    return nl.exp(x

def kernel(x:
    if foo(x:
        y = 1
    for i in range(10
        z = 2
    return y

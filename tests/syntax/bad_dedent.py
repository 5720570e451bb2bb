def kernel(x):
    if x:
            a = 1
        b = 2
    return b

def kernel(x)
    a = 1
    if a == 1
        b = 2
    else
        b = 3
    for i in range(4)
        b += 1
    while b return b
    class A
        pass
if x print(x)

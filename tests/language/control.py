TILE = 128
TILES = [TILE * i for i in range(3)]
unused = undefined_function(1)


def outer(a, b=2, *args, c=3, **kwargs):
    return a, b, args, c, kwargs


def counter():
    count = 0

    def step():
        nonlocal count
        count += 1
        return count

    return step


def early(n):
    for i in range(n):
        if i == 3:
            return i
        elif i == 1:
            continue
        else:
            pass
    return "done"


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def main():
    print(outer(1), outer(1, 5), outer(1, 2, 3, 4, c=9, z=0), outer(b=1, a=0), outer(*[1, 2], **{"c": 7}))
    step = counter()
    print(step(), step(), step(), early(2), early(5), fib(10), TILE, TILES)
    add = [lambda x, k=k: x + k for k in range(3)]
    print([f(10) for f in add], (lambda *a: a)(1, 2))
    i = 0
    while i < 10:
        i += 1
        if i % 2:
            continue
        if i > 6:
            break
    else:
        print("not reached")
    print(i)
    for k in range(3):
        pass
    else:
        print("else", k)
    total = 0
    for row in [[1, 2], [3]]:
        for v in row:
            if v == 2:
                break
            total += v
    print(total)
    assert total == 4, f"total is {total}"
    x = y = [1]
    y.append(2)
    print(x, 1 < 2 < 3, 3 > 2 >= 2 != 1, not (1 and 0), (1, 2) == (1, 2), [1] != [2])
    value: int = 5
    print(value if value > 3 else -value, "a" if [] else "b", callable(main), type(3) == int)
    del_me = {"a": [1, 2, {"b": (3, 4)}]}
    print(del_me["a"][2]["b"][1]); print("semicolon")
    if value: print("one line")

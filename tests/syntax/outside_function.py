return 1
break
def f():
    continue
    for i in x:
        def g():
            break
        continue
    return
class A:
    return 2

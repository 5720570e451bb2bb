if x = 3:
    pass
elif (x = 4):
    pass
while a.b = 1: pass
assert x = 1
y = (a = 1)
f(a.b=1)
f("name"=1)
x + = 1

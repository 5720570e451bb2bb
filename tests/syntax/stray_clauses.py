else:
    a = 1
x = 1
except ValueError:
    b = 2
@decorator
y = 3
try:
    z = 4
w = 5
def f():
    try:
        v = 1
    return v

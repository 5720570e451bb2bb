class = 3
lambda = 4
in = 5
def for(x):
    pass
def f(a, is):
    pass
x.from = 3
f(lambda=1, b=2)
f(in=3)
import class
for in in x: pass
None = 3

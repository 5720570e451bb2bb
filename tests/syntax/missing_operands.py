a = 1 +
b = 
c = (1 + )
d = [1, , 2]
e = x[]
f = a if b
g = not
h = return 3
i = a b
j = x"abc"
k = * 3
from m import
import
lambda

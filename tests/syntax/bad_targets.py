f(x) = 3
1 = x
a + b = c
"s" = x
(a, f(x)) = y
a, b += 1
for f(x) in y: pass
with open(f) as 3: pass
*a, *b = c
x < y = 3
[i for 1 in x]

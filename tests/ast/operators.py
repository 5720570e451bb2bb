a = 1 + 2 * 3 - 4
b = (1 + 2) * 3
c = -x ** -y ** z
d = a | b ^ c & d << e >> f
e = not a or b and not c
f = a < b <= c != d is not e not in g
g = a // b % c @ d / e
h = ~+-x
i = a if b else c if d else e
j = lambda x, *a, y=1, **k: x + y
k = (n := 3) + n
l = x.y[0].z(1)[2:3]

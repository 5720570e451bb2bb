def kernel(x):
for i in range(4):
    a = 1
    if a:
    b = 2
while x:

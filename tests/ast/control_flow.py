if a: b
elif c:
    d
elif e: f; g
else:
    h

for i, (j, *k) in a, *b:
    continue
else: pass

while n := f():
    break
else:
    g

for x in y: pass; pass;

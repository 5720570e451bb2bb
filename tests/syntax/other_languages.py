print x
x++
i--
if a && b:
    pass
if a || !b:
    pass
if a <> b: pass
if a === b: pass
else if a:
    pass
let x = 3
for (i = 0; i < 3; i++):
    pass
if a {
    pass
}
y = a ? b : c
while x do
    pass
z = p->q
for i = 0 to 3:
    pass

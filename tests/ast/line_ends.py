if a:
    b = """x
y"""

    c = 1 + \
        2
if d:
	e
	if g:
		h
f = [1,
2]
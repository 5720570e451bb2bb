print("hello)
name = 'sbuf
if mode == "fast:
    a = 1
x = foo(a,
        "tail)
y = 3
"""
never closed

a = 1 + \
    2
if a and \
   b:
    c = (
1,
        2
    )
d = {
    "a": [
1,
    ],
}

e = "x" \
    "y"
f(a,
b)

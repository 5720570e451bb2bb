# One message for each mistake, in the order of the file, and nothing about the lines between.
import nki.language as nl

@nki.jit
def kernel(x):
    a = nl.load(x[0:128)
    if a = 1:
        b = 2
    else:
        b = nl.exp(a
    for i in range(4)
        c = b +
    return c

def fine(x):
    return x

def broken(x, x):
    y = 5 5

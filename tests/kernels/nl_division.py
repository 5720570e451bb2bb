"""Division and remainders, which no engine has: IEEE values with one rounding, in every spelling."""
import nki
import nki.isa as nisa
import nki.language as nl
import numpy as np


def stored(tile):
    out = nl.ndarray(tile.shape, dtype=tile.dtype, buffer=nl.shared_hbm)
    nl.store(out, value=tile)
    return out


# nk: run quotients(x=f32[128,64]:randn(0), y=f32[128,64]:uniform(0.5,3,1))
# nk: expect quotients_reference rtol=0
@nki.jit
def quotients(x, y):
    a, b = nl.load(x), nl.load(y)
    column = b[:, 0:1]
    quotient = nl.ndarray(x.shape, dtype=nl.float32, buffer=nl.sbuf)
    nisa.tensor_tensor(quotient, a, b, op=nl.divide)
    return (
        stored(a / b),
        stored(nl.divide(a, 3.0)),
        stored(1.0 / b),
        stored(a / column),
        stored(column / a),
        stored(quotient),
        stored(nl.divide(a, 0.0)),
    )


def quotients_reference(x, y):
    column = y[:, 0:1]
    three = np.float32(3)
    return x / y, x / three, np.float32(1) / y, x / column, column / x, x / y, x / np.float32(0)


# nk: run floors(i=i32[128,512]:randint(0,8000000,0), x=f32[128,64]:randn(1))
# nk: expect floors_reference rtol=0
@nki.jit
def floors(i, x):
    """The quotient of two integers is a float, so its floor is that of the exact quotient."""
    a, b = nl.load(i), nl.load(x)
    assert nl.divide(a, 7).dtype == nl.float32 and (a // 7).dtype == nl.int32
    return stored(nl.floor(a / 7, dtype=nl.int32)), stored(a // 7), stored(a % 7), stored(b // 0.25)


def floors_reference(i, x):
    return i // 7, i // 7, i % 7, np.floor(x / np.float32(0.25))


# nk: run remainders(x=f32[128,64]:uniform(-9,9,0), y=f32[128,64]:uniform(-2,2,1))
# nk: expect remainders_reference rtol=0
@nki.jit
def remainders(x, y):
    a, b = nl.load(x), nl.load(y)
    column = b[:, 0:1]
    return (
        stored(nl.mod(a, b)),
        stored(nl.fmod(a, b)),
        stored(nl.mod(a, 1.5)),
        stored(nl.fmod(a, -1.5)),
        stored(nl.mod(7.0, b)),
        stored(a % column),
    )


def remainders_reference(x, y):
    return (
        np.mod(x, y),
        np.fmod(x, y),
        np.mod(x, np.float32(1.5)),
        np.fmod(x, np.float32(-1.5)),
        np.mod(np.float32(7), y),
        np.mod(x, y[:, 0:1]),
    )

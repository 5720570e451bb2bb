"""Functions of the Scalar engine in mpmath, at a few hundred points each, as functions.bin."""

import mpmath as mp
import numpy as np

from formats import f32


def sigma(x):
    return 1 / (1 + mp.exp(-x))


def phi(x):
    return mp.erfc(-x / mp.sqrt(2)) / 2


def silu_dx(x):
    return sigma(x) * (1 + x * sigma(-x))


A = mp.mpf("1.702")
# In the order of the emulator's function table.
FUNCTIONS = [
    ("copy", lambda x: x),
    ("square", lambda x: x * x),
    ("abs", abs),
    ("sign", mp.sign),
    ("relu", lambda x: max(x, mp.mpf(0))),
    ("exp", mp.exp),
    ("log", lambda x: mp.log(x) if x > 0 else mp.nan),
    ("softplus", lambda x: mp.log1p(mp.exp(x)) if x < 60 else x + mp.exp(-x)),
    ("sigmoid", sigma),
    ("silu", lambda x: x * sigma(x)),
    ("silu_dx", silu_dx),
    ("tanh", mp.tanh),
    ("mish", lambda x: x * mp.tanh(mp.log1p(mp.exp(x)))),
    ("gelu", lambda x: x * phi(x)),
    ("gelu_dx", lambda x: phi(x) + x * mp.npdf(x)),
    ("gelu_apprx_tanh", lambda x: x * sigma(2 * mp.sqrt(2 / mp.pi) * (x + mp.mpf("0.044715") * x**3))),
    ("gelu_apprx_sigmoid", lambda x: x * sigma(A * x)),
    ("gelu_apprx_sigmoid_dx", lambda x: silu_dx(A * x)),
    ("erf", mp.erf),
    ("erf_dx", lambda x: 2 / mp.sqrt(mp.pi) * mp.exp(-x * x)),
    ("sin", mp.sin),
    ("arctan", mp.atan),
    ("sqrt", lambda x: mp.sqrt(x) if x >= 0 else mp.nan),
    ("rsqrt", lambda x: 1 / mp.sqrt(x) if x > 0 else mp.nan),
    ("reciprocal", lambda x: 1 / x),
]


def inputs(name, rng):
    """Finite values without zeros, over all magnitudes and dense where functions bend."""
    values = [f32(rng.integers(0, 1 << 32, 120)), rng.uniform(-12, 12, 160), rng.uniform(-1, 1, 40)]
    values += [rng.uniform(-110, 110, 80), 10.0 ** rng.uniform(-40, 2, 40) * rng.choice([-1, 1], 40)]
    values += [np.array([1, -1, 0.5, 2, np.pi, -np.pi, np.pi / 2, -1.2784645, -0.7517916, -0.75114, 1e30, -87.3, 88.7])]
    if name == "sin":
        values += [rng.uniform(-1e6, 1e6, 40), rng.uniform(1.6e7, 1e9, 40), np.array([16777216, -16777218, 3e38, 2**100])]
    x = np.concatenate([np.asarray(it, dtype=np.float64).astype(np.float32) for it in values])
    x = x[np.isfinite(x) & (x != 0)]
    return x[x > 0] if name in ("log", "sqrt", "rsqrt") else x


def files():
    rng = np.random.default_rng(20240301)
    parts = []
    for name, function in FUNCTIONS:
        x = inputs(name, rng)
        mp.mp.prec = 400 if name == "sin" else 200
        y = []
        for it in x:
            # Beyond this, sigmoids and tails differ from 0 and 1 by less than f64 can say.
            value = mp.mpf(float(it))
            if abs(value) > 1e5 and name not in ("sin", "log", "sqrt", "rsqrt", "reciprocal", "arctan", "copy"):
                value = mp.mpf(float(it)) if name in ("square", "abs", "sign", "relu") else clip(name, value)
            y.append(float(value) if isinstance(value, Result) else float(function(value)))
        parts += [np.uint32(len(x)).tobytes(), x.tobytes(), np.array(y, dtype=np.float64).tobytes()]
    return {"functions.bin": b"".join(parts)}


class Result(mp.mpf):
    """A limit that is already the function's value."""


def clip(name, x):
    """The limit of a function at a huge argument, where mpmath would overflow."""
    positive = x > 0
    identity = name in ("softplus", "silu", "mish", "gelu", "gelu_apprx_tanh", "gelu_apprx_sigmoid")
    if identity:
        return Result(x if positive else 0)
    if name in ("erf", "tanh"):
        return Result(1 if positive else -1)
    if name == "exp":
        return Result("inf") if positive else Result(0)
    if name == "erf_dx":
        return Result(0)
    return Result(1 if positive else 0)

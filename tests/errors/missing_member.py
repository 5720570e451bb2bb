# nk: run kernel(x=f32[128,64]:randn(0))
import nki
import nki.language as nl
from dataclasses import dataclass


@dataclass
class Config:
    rows: int
    columns: int = 64


@nki.jit
def kernel(x):
    config = Config(128)
    return nl.load(x[0:config.row, :])  # error: no-attribute

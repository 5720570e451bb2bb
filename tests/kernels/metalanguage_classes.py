"""Classes, dataclasses, enumerations and exceptions, all at compile time."""
import enum
import nki
import nki.isa as nisa
import nki.language as nl
import numpy as np
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import NamedTuple, Optional


class Mode(Enum):
    SUM = "sum"
    SCALED = "scaled"


class Level(enum.IntEnum):
    LOW = enum.auto()
    HIGH = enum.auto()


@dataclass(frozen=True)
class Config:
    size: int
    factor: float = 2.0
    mode: Mode = Mode.SUM
    names: list = field(default_factory=list)
    half: Optional[int] = field(init=False, default=None)

    def __post_init__(self):
        self.names.append(self.mode.name)

    @property
    def doubled(self):
        return 2 * self.size

    @staticmethod
    def of(size):
        return Config(size, mode=Mode.SCALED)


class Shape(NamedTuple):
    rows: int
    columns: int = 16


class Tile(nl.NKIObject):
    shape: tuple
    name: str = "tile"


class Limits(nl.NKIObject):
    rows = None
    columns = 16


class Base:
    kind = "base"

    def __init__(self, tile):
        self.tile = tile

    def scaled(self, factor):
        return nl.multiply(self.tile, factor)

    @classmethod
    def title(cls):
        return cls.kind


class Shifted(Base):
    kind = "shifted"

    def __init__(self, tile, shift):
        super().__init__(tile)
        self.shift = shift

    def scaled(self, factor):
        return nl.add(super().scaled(factor), self.shift)

    def __len__(self):
        return self.tile.shape[0]

    def __call__(self, factor):
        return self.scaled(factor)


class TooSmall(ValueError):
    pass


def checked(size):
    if size < 8:
        raise TooSmall(f"{size} is too small")
    return size


def described(size):
    try:
        return checked(size), "fits"
    except TooSmall as error:
        return 8, str(error)
    finally:
        print("looked at", size)


# nk: run kernel(x=f32[64,16]:randn(0))
# nk: expect reference rtol=0
@nki.jit
def kernel(x):
    config = Config(64)
    other = Config.of(64)
    assert config != other and config == Config(64) and other.mode is Mode.SCALED
    assert config.names == ["SUM"] and config.half is None and config.doubled == 128
    assert replace(config, factor=3.0).factor == 3.0 and Mode("sum") == Mode.SUM
    assert Level.HIGH > Level.LOW and Level.HIGH == 2 and [it.name for it in Level] == ["LOW", "HIGH"]
    shape = Shape(64)
    rows, columns = shape
    assert (rows, columns) == (64, 16) and shape.columns == shape[1] and isinstance(shape, Shape)
    assert Tile((1, 2)).name == "tile" and Tile(shape=(1, 2)) == Tile((1, 2), "tile")
    assert Limits(rows=4).rows == 4 and Limits().columns == 16
    assert described(4) == (8, "4 is too small") and described(9) == (9, "fits")
    table = {Mode.SUM: 1.0, Mode.SCALED: config.factor}
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    shifted = Shifted(nl.load(x), shift=1.0)
    assert isinstance(shifted, Base) and len(shifted) == 64 and shifted.title() == "shifted"
    if (n := len(shifted)) > 32:
        nl.store(out, shifted(table[other.mode]))
    assert n == 64
    return out


def reference(x):
    return 2 * x + np.float32(1)

import nki.language as nl

from . import HALF
from ..numbers import DOUBLE


def scaled(tile):
    return nl.multiply(tile, HALF * DOUBLE * 3.0)

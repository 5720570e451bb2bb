"""In a folder without `__init__.py` inside a package: imports relative to it and from the root."""
import nki.language as nl
from package import scaled

from ..numbers import DOUBLE


def tripled(tile):
    return nl.multiply(scaled(tile), DOUBLE / 2.0)

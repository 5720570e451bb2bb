import copy
import math
from dataclasses import dataclass, replace
from enum import IntEnum
from functools import cached_property

COUNTS = {}
COUNTS["a"] = 1
COUNTS["a"] += 2


class Level(IntEnum):
    LOW = 1


def twice(method):
    return lambda self: 2 * method(self)


@dataclass
class Tiling:
    size: int
    step: int = 2

    def __post_init__(self):
        self.total = self.size * self.step

    @cached_property
    def half(self):
        return self.total // 2

    @twice
    def doubled(self):
        return self.size


class Meter:
    def __init__(self):
        self._count = 0

    @property
    def count(self):
        return self._count

    @count.setter
    def count(self, count):
        self._count = 10 * count


def counted(log, values):
    log.append(len(values))
    return values


def collected(a=0, **rest):
    return a, rest


def unique(values):
    return [last := it for it in values], last


def main():
    # What stands in a target is evaluated once.
    log, values, places = [], [0, 1, 2], [0, 1, 2]
    values[places.pop()] += 5
    counted(log, values)[0] = 3
    counted(log, values)[1] += 1
    print(values, places, log)
    left = [7]
    try:
        assert left.pop() == 3
    except AssertionError:
        print("once", left)
    rows = [1, 2]
    print([rows for rows in rows], unique("ab"), COUNTS)
    print(Tiling(3), replace(Tiling(3), size=5).total, Tiling(3).half, Tiling(4).doubled(), {1: "low"}[Level.LOW])
    for call in (lambda: Tiling(1, size=2), lambda: collected(a=1, **{"a": 2}), lambda: list([1], [2])):
        try:
            call()
        except TypeError:
            print("refused")
    print(list(enumerate("ab", 1)), sorted([3, 1, 2], reverse=True), [2, 1].index(1))
    print(1.0 // 0.1, -7.5 // 2, 7.5 % -2, round(125, -1), round(1.5, 400), int("0b1", 16), int("-0x1f", 16), int("0o17", 0))
    print(math.comb(10**12, 10**12), math.comb(60, 57), math.comb(3, 5))
    print("aaa".replace("a", "b", 2), "a b c".split(None, 1), "a,b,c".split(sep=",", maxsplit=1), "-5".zfill(4), "ab".center(5, "*"))
    own = [1]
    own.append(own)
    other = copy.deepcopy(own)
    other[1].append(2)
    print(own is own[1], other is other[1], len(own), len(other))
    Narrow = ValueError
    try:
        try:
            raise Narrow("narrow")
        except ValueError as error:
            raise error
    except ValueError as error:
        print("caught", error)
    print(True | False, True & False, True ^ True, {1} <= {1, 2}, {1, 2} < {1, 2}, {1, 2} > {1}, 0.0 % -2.5)
    print(range(5)[1:], range(5, 0, -2)[::-1], list(range(10)[2:100:3]), len(range(10**12)[5:]), [1, 2, 3][1::9223372036854775807])
    print(f"{1234567:_x} {1234567:_d} {3.25:n} {7:n}", "%c%c" % ("a", 98))
    for call in (lambda: "%%" % 1, lambda: f"{1:s}"):
        try:
            call()
        except (TypeError, ValueError):
            print("refused")
    meter = Meter()
    meter.count = 2
    meter.count += 1
    setattr(meter, "other", 7)
    print(meter.count, meter._count, meter.other)

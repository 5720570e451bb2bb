import functools
import itertools
import operator
from dataclasses import dataclass, field, replace
from enum import Enum, IntEnum


class Mode(Enum):
    A = 1
    B = "two"


class Level(IntEnum):
    LOW = 1
    HIGH = 2


@dataclass
class Size:
    n: int
    m: int = 3
    parts: list = field(default_factory=list)

    def __post_init__(self):
        self.total = self.n * self.m

    def __add__(self, other):
        return Size(self.n + other.n, self.m + other.m)

    @property
    def both(self):
        return self.n + self.m

    @classmethod
    def square(cls, n):
        return cls(n, n)

    @staticmethod
    def rounded(x, to=4):
        return (x + to - 1) // to * to


class Vector:
    def __init__(self, *items):
        self.items = list(items)

    def __repr__(self):
        return f"Vector{tuple(self.items)}"

    def __add__(self, other):
        return Vector(*[a + b for a, b in zip(self.items, other.items)])

    def __mul__(self, factor):
        return Vector(*[a * factor for a in self.items])

    def __rmul__(self, factor):
        return self * factor

    def __neg__(self):
        return self * -1

    def __eq__(self, other):
        return self.items == other.items

    def __lt__(self, other):
        return sum(self.items) < sum(other.items)

    def __len__(self):
        return len(self.items)

    def __getitem__(self, idx):
        return self.items[idx]

    def __setitem__(self, idx, value):
        self.items[idx] = value

    def __contains__(self, item):
        return item in self.items

    def __iter__(self):
        return iter(self.items)

    def __call__(self, x):
        return [x + it for it in self.items]


class Shifted(Vector):
    def __init__(self, by, *items):
        super().__init__(*[it + by for it in items])
        self.by = by

    def __str__(self):
        return f"shifted by {self.by}"


def main():
    a, b = Size(2), Size.square(5)
    c = a + b
    print(c.n, c.m, c.both, c.total, Size.rounded(5), Size.rounded(5, to=3), a == Size(2), a != b, a.parts)
    print(replace(a, m=7).m, isinstance(a, Size), hasattr(a, "n"), getattr(a, "zzz", None))
    v, w = Vector(1, 2, 3), Vector(4, 5, 6)
    print(v, v + w, v * 2, 3 * v, -v, v == Vector(1, 2, 3), v != w, v < w, w > v, len(v), v[1], v[-1], 2 in v, 9 not in v)
    v[0] = 10
    print([it for it in v], list(v), sum(v), max(v), v(100), f"{v} {v!r} {w}", str(v), bool(Vector()), not Vector(), tuple(w))
    first, *rest = w
    print(first, rest)
    s = Shifted(1, 1, 2)
    print(s, repr(s), s.by, isinstance(s, Vector), s + v, f"{s}")
    print(Mode.A.value, Mode.B.name, Mode.A is Mode.A, Mode.A == Mode.B, Mode("two").name, [it.name for it in Mode])
    print(Level.LOW < Level.HIGH, Level.HIGH + 1, int(Level.LOW))
    print(functools.reduce(operator.mul, [1, 2, 3, 4]), functools.partial(Size.rounded, to=8)(3))
    print(list(itertools.chain([1], (2, 3))), list(itertools.product([1, 2], "ab")), list(itertools.accumulate([1, 2, 3])))
    try:
        raise ValueError("too wide")
    except (KeyError, ValueError) as error:
        print("caught", error)
    else:
        print("not reached")
    finally:
        print("done")
    print(list(itertools.combinations("abc", 2)), list(itertools.permutations([1, 2, 3], 2)), len(list(itertools.permutations(range(4)))))
    print(list(itertools.repeat(7, 2)), list(itertools.islice(range(10), 2, 8, 3)), list(itertools.starmap(max, [(1, 2), (4, 3)])))
    print(list(itertools.zip_longest([1, 2, 3], "a", fillvalue="-")), list(itertools.product([0, 1], repeat=2)))
    print(list(itertools.accumulate([3, 1, 2], max)), next(iter([5, 6])), next((it for it in [1, 2, 3] if it > 1), None), next(iter([]), "end"))

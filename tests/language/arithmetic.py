import math
from functools import reduce
import operator


def main():
    print(7 // 2, -7 // 2, 7 // -2, -7 % 3, 7 % -3, 2**10, 2**-1, 10 / 4, 7.5 // 2, -7.5 % 2)
    print(1 << 10, 1023 >> 3, 6 & 3, 6 | 3, 6 ^ 3, ~6, -(-3), +4, not 0)
    print(divmod(17, 5), divmod(-17, 5), abs(-3), abs(-2.5), round(2.5), round(3.5), round(2.675, 2))
    print(min(3, 1, 2), max([3, 1, 2]), min("b", "a"), max((1, 5), (2, 0)), sum([1, 2, 3]), sum((0.5, 0.25)))
    print(int("42"), int("0x1f", 16), int(3.99), int(-3.99), float("1e-3"), float("inf"), bool([]), bool("x"))
    print(1e16, 1e15, 123456789.125, 0.1, 1e-5, 0.0001, 1.0, -0.0, 1e300 * 1e10, 2.5e-8)
    print(True + True, True == 1, 1 == 1.0, 3 < 4 < 5, 3 < 4 > 5, 1 if 0 else 2, 0 or 3, 0 and 3, None or "x")
    print(math.ceil(2.1), math.floor(-2.1), math.sqrt(16), math.gcd(12, 18), math.prod([2, 3, 4]), math.log2(8))
    print(math.isqrt(17), math.factorial(5), math.pi, math.trunc(-2.7), math.lcm(4, 6), math.comb(5, 2))
    print(reduce(operator.mul, [1, 2, 3, 4]), reduce(lambda a, b: a + b, range(5), 100), operator.add(2, 3))
    print(0xFF, 0b101, 0o17, 1_000_000, None is None, [] is not None)
    print(isinstance(3, int), isinstance(3.0, (int, float)), isinstance("a", str), isinstance([], tuple))
    n = 10
    n += 5
    n -= 3
    n *= 2
    n //= 5
    n **= 3
    n %= 50
    print(n)

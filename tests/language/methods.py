def main():
    s = "Tile_k of the Matmul"
    print(s.title(), s.find("k"), s.rfind("k"), s.index("of"), s.removeprefix("Tile_"), s.removesuffix("Matmul"), s.partition(" "))
    print(s.rpartition(" "), s.partition("zz"), s.rpartition("zz"), s.split(" ", 1), s.rsplit(" ", 1), s.split("k", maxsplit=1))
    print("a\nb\n".splitlines(), "x".ljust(4) + "|", "x".rjust(4), "abc".center(9) + "|", "12".isdigit(), "a1".isalnum(), "ab".isalpha())
    print("  ".isspace(), "AB".isupper(), "aB".islower(), "".isdigit(), "1.5".isnumeric(), "a,b,,c".split(","), " a  b ".split())
    a, b = {1, 2, 3}, {3, 4}
    print(sorted(a | b), sorted(a & b), sorted(a - b), sorted(a ^ b), a.isdisjoint({9}), {1}.issubset(a), a.issuperset([1, 2]))
    print(sorted(a.difference([1])), sorted(a.intersection(b)), sorted(a.symmetric_difference(b)), len({7}), {7}.pop(), a == {3, 2, 1})
    print((5).bit_length(), (0).bit_length(), (255).bit_count(), (2.0).is_integer(), (2.5).is_integer(), (-8).bit_length())

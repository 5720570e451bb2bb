def main():
    x, name, pi, big = 42, "tile", 3.14159265, 1234567
    print(f"{x} {name!r} {pi:.3f} {x:5d}| {x:<5}| {x:^7}| {x:>05d} {big:,} {pi:10.2e} {x:#x} {x:b}")
    print(f"{x=} {name=} {x + 1 = } {pi=:.2f} {{literal}} {x!s:>6} {'nested ' + name}")
    print(f"{x:{name and 8}}|", f"{1e10:g} {0.0001:g} {123456789.0:g} {1.0:g} {pi:g} {0.25:%} {x:+d} {-x:+d}")
    print(f"{name:>8}|{name:*^10}|{name:.2}|{True}|{None}|{[1, 2]}|{(1,)}|{ {'a': 1} }")
    print("%d %s %5.2f %05d %r %x %%" % (x, name, pi, x, name, 255))
    print("{} {1} {n:>4}".replace("{1}", "{}").format(1, 2, n=3), "{0}-{0}".format("a"))
    print("a,b,c".split(","), " x y ".split(), "-".join(["a", "b"]), "abc".upper(), "ABC".lower(), " x ".strip())
    print("hello"[1], "hello"[-1], "hello"[1:3], "hello"[::-1], "hello"[::2], len("hello"), "ell" in "hello")
    print("abc" + "def", "ab" * 3, "a" < "b", "abc".startswith("ab"), "abc".endswith(("x", "c")), "abcb".find("b"))
    print("implicit " "concatenation", 'single', """triple
line""", r"raw\n", "tab\tnewline\\", "é", "\x41\u00e9")
    print(repr("it's"), repr('say "hi"'), str(1.0), repr([1.5, "a", None]), "7".zfill(3), "x".capitalize())
    print("abcabc".count("b"), "abcabc".replace("b", "-"), "12".isdigit(), ord("a"), chr(98))

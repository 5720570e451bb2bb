a = 1_000, 0xFF, 0o17, 0b1010, 0
b = 1.0, 1e-5, .5, 5., 1_0.2_5e+3
c = 9223372036854775807, -9223372036854775808, 0xFFFFFFFFFFFFFFFF, 2j, b"bytes"
d = "a\n\t\\\'\"\x41\u00e9\U0001F600\101\q\N{DASH}" 'joined' r"\n" R'\d' u"x"
e = """two
lines\
, no third"""
f = True, False, None, ...
g = "größe", größe, ñ_1

import nki
x0 = = 0  # error: unexpected-token
x1 = = 1  # error: unexpected-token
x2 = = 2  # error: unexpected-token
x3 = = 3  # error: unexpected-token
x4 = = 4  # error: unexpected-token
x5 = = 5  # error: unexpected-token
x6 = = 6  # error: unexpected-token
x7 = = 7  # error: unexpected-token
x8 = = 8  # error: unexpected-token
x9 = = 9  # error: unexpected-token
x10 = = 10  # error: unexpected-token
x11 = = 11  # error: unexpected-token
x12 = = 12  # error: unexpected-token
x13 = = 13  # error: unexpected-token
x14 = = 14  # error: unexpected-token
x15 = = 15  # error: unexpected-token
x16 = = 16  # error: unexpected-token
x17 = = 17  # error: unexpected-token
x18 = = 18  # error: unexpected-token
x19 = = 19  # error: unexpected-token
x20 = = 20  # error: too-many-errors
x21 = = 21

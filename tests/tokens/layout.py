# Comments and blank lines make no tokens.
def f(a,
      b):  # a comment

    if a: return [1,
        2]
    else:
        # only a comment

        x = "s"; y = f"{a}"
match a:
    case [1, *_] if b: pass
with (a as b): pass
type A = int

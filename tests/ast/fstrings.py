a = f"plain"
b = f"{x}"
c = f"a{x!r:>{width}.3f}b{y + 1}" "c{d}" f'{z}'
d = f"{{literal}} {x = } {x=!s} {x=:>5}"
e = f"{d['key']} {f'{inner}'} {a if b else c} {x != y} {(lambda q: q)(1)} {a, b}"
g = rf"\d{x}\n" F"""multi
{
  x
}"""
h = f"{d["same quotes"]}"
i = f"{x:%Y-%m-%d} {x:{{a}}}"
j = f"\N{DASH}{x}\x41"

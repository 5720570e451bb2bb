@nki.jit(mode="trace", platform_target=x)
@a.b
def f(a, b: "T", /, c: Optional[int] = None, *args: int, d, e=1, **kwargs) -> Tuple[int, str]:
    """Docstring."""
    def inner(*, x): return x
    return inner

def g(a,): pass
def h(
    a,
    *,
    b=2,
): ...

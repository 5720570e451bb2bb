async def f(x): await g(x)
async with a as b: pass
async for x in y: pass
@decorator
async def g(): pass
del a, b[0]
match command.split():
    case [x, *rest] if rest: pass
    case {"a": 1, **other} | Point(x=0) as p:
        print(p)
    case _: pass
match = {"type": 1}; match[0]; match(1); print(match, case, type)
match (x):
    case 1: pass
match n := f(), 1:
    case _: pass
type Vector = list[float]
type = 3
def h[T: int, *Ts, **P](x: T) -> T: return x
class B[T](Base): pass
def gen():
    x = yield
    y = yield a, b
    yield from z
    return [await w for w in x]

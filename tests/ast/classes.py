@dataclass(frozen=True)
class A(Base, metaclass=M, **kw):
    x: int
    y: float = 1.0
    z = 3

    @staticmethod
    def f(): pass

class B: pass
class C(): ...

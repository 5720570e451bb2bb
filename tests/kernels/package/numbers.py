from package.parts import HALF

DOUBLE = 1.0 / HALF

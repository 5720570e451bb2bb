"""A golden program: IR text, the elements of its inputs and the elements its outputs must hold.

`NAME.nir` is the text; `NAME.bin` holds the raw elements of its `in` buffers and then of its `out` buffers, in the order of
the text, little-endian and without gaps.
"""

import numpy as np

from formats import word


class Program:
    def __init__(self, name, about, ulps=0):
        self.name = name
        self.about = about
        # Outputs of f32 may be off by so many units in the last place; 0 means the same bits.
        self.ulps = ulps
        self.inputs = []
        self.outputs = []
        self.buffers = []
        self.lines = []
        self.count = 0

    def fresh(self, stem):
        self.count += 1
        return f"%{stem}.{self.count}"

    def hbm(self, dtype, raw, stem="h"):
        """An input in HBM; gives its name."""
        name = self.fresh(stem)
        raw = np.ascontiguousarray(raw, dtype=word(dtype))
        self.inputs.append((name, dtype, raw))
        return name

    def tile(self, dtype, raw, memory="sbuf"):
        """An input that is loaded into a tile; gives the tile's name."""
        source = self.hbm(dtype, raw)
        name = self.buffer(dtype, raw.shape)
        self.lines.append(f"{name} <- dma_copy {source}")
        if memory == "sbuf":
            return name
        # Nothing but an engine writes PSUM.
        inside = self.buffer(dtype, raw.shape, memory)
        self.lines.append(f"{inside} <- tensor_copy {name}")
        return inside

    def buffer(self, dtype, shape, memory="sbuf"):
        """A tile without contents."""
        name = self.fresh("t")
        self.buffers.append(f"buf {name}: {dtype}[{', '.join(map(str, shape))}] @ {memory}")
        return name

    def add(self, line):
        self.lines.append(line)

    def result(self, dtype, raw, line, memory="sbuf"):
        """An instruction that writes a fresh tile, `line` being what stands behind the arrow; the tile must hold `raw`."""
        raw = np.ascontiguousarray(raw, dtype=word(dtype))
        tile = self.buffer(dtype, raw.shape, memory)
        self.lines.append(f"{tile} <- {line}")
        self.expect(dtype, raw, tile, memory)

    def expect(self, dtype, raw, tile, memory="sbuf"):
        """Says what a tile must hold now."""
        raw = np.ascontiguousarray(raw, dtype=word(dtype))
        if memory == "psum":
            copy = self.buffer(dtype, raw.shape)
            self.lines.append(f"{copy} <- tensor_copy {tile}")
            tile = copy
        name = self.fresh("o")
        self.outputs.append((name, dtype, raw))
        self.lines.append(f"{name} <- dma_copy {tile}")

    def expect_hbm(self, dtype, raw, line):
        """A DMA that writes an output directly."""
        name = self.fresh("o")
        raw = np.ascontiguousarray(raw, dtype=word(dtype))
        self.outputs.append((name, dtype, raw))
        self.lines.append(f"{name} <- {line}")

    def files(self):
        shape = lambda raw: ", ".join(map(str, raw.shape))
        text = [f"; {self.about}", "; Written by make.py."]
        if self.ulps:
            text.append(f"; golden: ulps={self.ulps}")
        text.append(f"kernel %{self.name} for trainium1")
        text.append("")
        text += [f"in {name}: {dtype}[{shape(raw)}] @ hbm" for name, dtype, raw in self.inputs]
        text += [f"out {name}: {dtype}[{shape(raw)}] @ hbm" for name, dtype, raw in self.outputs]
        text += self.buffers
        text += ["", "body {"] + [f"  {it}" for it in self.lines] + ["}", ""]
        data = b"".join(raw.tobytes() for _, _, raw in self.inputs + self.outputs)
        return {f"{self.name}.nir": "\n".join(text).encode(), f"{self.name}.bin": data}

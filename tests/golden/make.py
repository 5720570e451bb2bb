"""Writes the golden files in data/: values that the emulator must give, computed by numpy, ml_dtypes and mpmath.

    make.py            writes the files
    make.py --check    computes them again and compares, byte for byte

Results depend on nothing but the versions below, which are checked: exit code 3 says that they are not installed. No value
comes from the emulator.
"""

import importlib.metadata
import pathlib
import sys

VERSIONS = {"numpy": "2.4.6", "ml_dtypes": "0.6.0", "mpmath": "1.3.0"}
OUT = pathlib.Path(__file__).parent / "data"


def missing():
    """What is installed in place of the pinned versions."""
    for name, wanted in VERSIONS.items():
        try:
            found = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found = "none"
        if found != wanted:
            yield f"{name} {wanted} is needed, {found} is there"


def main():
    problems = list(missing())
    if problems:
        print("golden files cannot be made: " + "; ".join(problems))
        return 3
    import alu
    import casts
    import functions
    import instructions
    import streams

    files = {}
    for module in (casts, alu, functions, instructions, streams):
        files |= module.files()
    n_bytes = sum(map(len, files.values()))
    if sys.argv[1:] != ["--check"]:
        for name, data in files.items():
            (OUT / name).write_bytes(data)
        print(f"golden files: {len(files)} written, {n_bytes} bytes")
        return 0
    there = {it.name for it in OUT.iterdir() if it.suffix in (".bin", ".nir")}
    wrong = sorted(there ^ set(files)) + [it for it in files if it in there and (OUT / it).read_bytes() != files[it]]
    if wrong:
        print("golden files differ from what make.py gives: " + ", ".join(wrong))
        return 1
    print(f"golden files: {len(files)} made again, {n_bytes} bytes, all the same")
    return 0


sys.exit(main())

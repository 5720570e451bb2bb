def main():
    a = [3, 1, 2]
    a.append(5)
    a.extend([7, 8])
    a.insert(0, 9)
    print(a, a.pop(), a.pop(0), a, a.index(2), a.count(1), len(a), 5 in a, 6 not in a)
    b = a
    b += [1]
    print(a, a is b, a == list(b), sorted(a), sorted(a, reverse=True), list(reversed(a)), a[1:3], a[-2:], a[::-1])
    a.sort(key=lambda x: -x)
    print(a, [0] * 3, [1, 2] + [3], list(range(2, 10, 3)), list(range(5, 0, -2)), tuple([1, 2]))
    a[0] = 100
    a.remove(1)
    a.reverse()
    print(a, a.copy(), [x * x for x in range(5) if x % 2], [(i, j) for i in range(2) for j in range(3) if i != j])
    t = (1, 2, 3)
    x, y, z = t
    first, *rest = [1, 2, 3, 4]
    *head, last = t
    (p, q), r = (1, 2), 3
    print(x + y + z, first, rest, head, last, p, q, r, t + (4,), t * 2, t[1:], t.index(2), (1, 2) < (1, 3))
    d = {"a": 1, "b": 2}
    d["c"] = 3
    d.update({"d": 4})
    print(d, d["a"], d.get("z"), d.get("z", 0), list(d.keys()), list(d.values()), list(d.items()), "a" in d, len(d))
    print(d.pop("a"), d.setdefault("e", 5), d.setdefault("b", 9), {k: v * 2 for k, v in d.items()}, dict(x=1, y=2))
    print({1, 2, 2, 3}, sorted({3, 1, 2}), len(set([1, 1])), {1: "one", (1, 2): "pair", None: 0}[(1, 2)])
    for i, (k, v) in enumerate(zip(["x", "y"], [1, 2])):
        print(i, k, v)
    print(list(map(lambda v: v + 1, [1, 2])), list(filter(None, [0, 1, 2])), any([0, 1]), all([]), list(zip((1, 2), (3, 4))))
    nested = [[1, 2], [3, 4]]
    nested[0][1] = 20
    print(nested, nested[1][0], sum(len(row) for row in nested), max(nested, key=lambda row: row[0]))
    print([*t, 4], {**d, "z": 0}, (*t, *t))
    if (n := len(t)) > 2:
        print("walrus", n)

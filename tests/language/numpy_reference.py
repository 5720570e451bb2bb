import numpy as np


def main():
    a = np.arange(6).reshape(2, 3)
    b = np.ones((2, 3), dtype=np.float32) * 2
    print((a + b).tolist(), (a @ b.T).tolist(), a.sum(axis=0).tolist(), a.mean(axis=1, keepdims=True).tolist())
    print(a[:, 1].tolist(), a[1, ::2].tolist(), a.T.shape, a.reshape(-1).tolist(), np.maximum(a, 2).tolist())
    c = np.zeros((3, 3))
    c[1] = 5
    c[:, 2] += 1
    c[0, 0] = -1
    print(c.tolist(), np.where(c > 0, c, 0).tolist(), (c == 5).sum(), c.max(), c.argmax(), c.shape[0])
    x = np.array([[1.0, 2.0], [3.0, 4.0]])
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    softmax = e / e.sum(axis=-1, keepdims=True)
    print(np.round(softmax, 4).tolist(), np.sqrt(x).round(3).tolist(), np.concatenate([x, x], axis=1).tolist())
    print(np.einsum("ij,kj->ik", x, x).tolist(), np.transpose(x, (1, 0)).tolist(), x.astype(np.int32).dtype == np.int32)
    for row in x:
        print(row.tolist(), float(row[0]), int(row[1]))
    print(np.float32(0.1) == 0.1, np.pi, np.allclose(x, x + 1e-9), np.linalg.norm(x).round(4), np.clip(x, 2, 3).tolist())

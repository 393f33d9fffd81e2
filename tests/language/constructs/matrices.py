"""Linear algebra: compared with NumPy to limited precision, since the order of additions differs."""

import numpy as np

from kairos.language import kernel, rpc

from .marks import Marks


class Rounded(Marks):
    """Marks numbers rounded to ten digits, without negative zeros."""

    @rpc(flags={"async"})
    def mark(self, *values):
        self.trace.append([(np.round(np.asarray(value, dtype=float), 10) + 0.0).tolist() for value in values])


class Solved(Rounded):
    def build(self):
        rng = np.random.default_rng(5)
        self.a = rng.normal(size=(4, 4))
        self.b = rng.normal(size=(4, 2))
        self.v = rng.normal(size=4)

    @kernel
    def run(self):
        a = self.a
        self.mark(np.linalg.solve(a, self.v), np.linalg.solve(a, self.b), np.linalg.inv(a), np.linalg.det(a))
        self.mark(np.linalg.matrix_power(a, 3), np.linalg.matrix_power(a, -2), np.linalg.matrix_power(a, 0))
        self.mark(np.linalg.cholesky(a @ a.transpose() + np.eye(4)), np.linalg.inv(a[:2, :2]), np.linalg.det(a.T))
        self.mark(np.linalg.det(np.zeros((3, 3))), np.linalg.inv(np.array([[0.0, 2.0], [4.0, 0.0]])))


class Decomposed(Rounded):
    def build(self):
        rng = np.random.default_rng(6)
        self.tall = rng.normal(size=(5, 3))
        self.wide = rng.normal(size=(2, 4))

    @kernel
    def run(self):
        q, r = np.linalg.qr(self.tall)
        self.mark(q, r, q @ r - self.tall, q.T @ q)
        p, s = np.linalg.qr(self.wide)
        self.mark(p, s)
        u, values, v = np.linalg.svd(self.tall)
        self.mark(values, u.shape, v.shape, u.T @ u, v @ v.T)
        middle = np.zeros((5, 3))
        for i in range(3):
            middle[i, i] = values[i]
        self.mark(u @ middle @ v - self.tall)
        x, lengths, y = np.linalg.svd(self.wide)
        self.mark(lengths, x.shape, y.shape, y @ y.T)
        self.mark(np.linalg.pinv(self.tall), np.linalg.pinv(self.wide), np.linalg.pinv(np.zeros((2, 3))))


class NothingToSolve(Rounded):
    def build(self):
        self.two = 2

    @kernel
    def run(self):
        zero = np.zeros((self.two, 2))
        try:
            self.mark(np.linalg.inv(zero))
        except np.linalg.LinAlgError:
            self.mark(1)
        try:
            self.mark(np.linalg.cholesky(zero - np.eye(2)))
        except np.linalg.LinAlgError:
            self.mark(2)
        try:
            self.mark(np.linalg.det(np.zeros((self.two, 3))))
        except np.linalg.LinAlgError:
            self.mark(3)
        try:
            self.mark(np.linalg.solve(np.eye(2), np.zeros(self.two + 1)))
        except ValueError:
            self.mark(4)
        self.mark(np.linalg.inv(zero))

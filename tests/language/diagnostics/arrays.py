"""Arrays."""

PROGRAMS = {
    "dimensions of a function of two arrays": "x = np.arctan2(self.array, self.matrix)",
    "truth of an array": "x = bool(self.array == self.array)",
    "truth of an array in if": """
        if self.array == self.array:
            pass
    """,
    "array as a condition": """
        while not self.matrix:
            pass
    """,
    "truths as a condition": """
        if self.truths:
            pass
    """,
    "row as a condition of any": "x = any([self.array])",
    "too many arguments": "x = np.zeros(3, float, 3, 4, 5)",
    "argument twice": "x = np.zeros(3, shape=4)",
    "argument missing": "x = np.full(3)",
    "unknown argument": "x = np.zeros(3, order='C')",
    "not an array": "x = np.transpose(self.list)",
    "not a type of elements": "x = np.zeros(3, dtype=str)",
    "axis that is computed": "x = np.sum(self.matrix, axis=self.number)",
    "axis out of bounds": "x = np.sum(self.matrix, axis=2)",
    "arange of floats as integers": "x = np.arange(0.5, 3.0, dtype=int32)",
    "arange of bools": "x = np.arange(3, dtype=bool)",
    "endpoint that is computed": "x = np.linspace(0.0, 1.0, 5, endpoint=self.flag)",
    "where of several dimensions": "x = np.where(self.truths, self.array, self.matrix)",
    "linear algebra of a vector": "x = np.linalg.inv(self.array)",
    "right side of an equation": "x = np.linalg.solve(self.matrix, 1.0)",
    "reshape of a view": "x = self.matrix[:, ::2].reshape(4)",
    "reshape to two tuples": "x = self.matrix.reshape((3, 2), (1, 1))",
    "dot of truth values": "x = np.dot(self.truths, self.truths)",
    "slices of a list": "x = self.list[0:1, 0]",
    "too many slices": "x = self.array[0:1, 0:1]",
    "too many indices": "x = self.array[0, 1]",
    "array of another rank assigned": "self.matrix[0:1] = self.array",
    "comparison of ranks": "x = self.array == self.matrix",
    "chain of comparisons": "x = self.array < self.array < self.array",
    "sum of truth values": "x = self.truths + self.truths",
    "product with a number": "x = self.array @ 2.0",
    "bits of arrays": "x = self.ints << self.ints",
    "in place with a larger one": """
        a = self.array
        a += self.matrix
    """,
    "in place product": """
        a = self.matrix
        a @= self.matrix
    """,
    "dimensions of a sum": "x = self.array + self.matrix",
    "negation of truth values": "x = -self.truths",
    "inversion of an array": "x = ~self.array",
    "array of a tuple": "x = np.array((1, 2))",
    "any of rows": "x = any(self.matrix)",
    "product of numbers": "return 1 @ 2",
}

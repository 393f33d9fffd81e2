"""Strings in lists and arrays."""

import numpy as np

from kairos.language import TList, TStr, kernel, rpc

from .marks import Marks


class TextsInSequences(Marks):
    def build(self):
        self.names = ["one", "two", "three"]
        self.nested = [["a"], ["b", "ç"]]
        self.labels = np.array([["up", "down"], ["left", "µ"]])

    @kernel
    def longest(self, names):
        best = names[0]
        for name in names:
            if len(name) > len(best):
                best = name
        return best

    @rpc
    def fetch(self, count) -> TList(TStr):
        return ["x" * i for i in range(count)]

    @kernel
    def work(self):
        self.mark(self.longest(self.names), self.names[-1], "two" in self.names, "four" in self.names)
        self.names[0] = "ONE"
        copy = [name + "!" for name in self.names]
        self.mark(copy, copy[1:], copy == self.names, self.nested[1][1], len(self.nested))
        self.mark(self.labels[0, 1], self.labels.shape, self.labels[1])
        for row in self.labels:
            for label in row:
                self.mark(label, len(label))
        words = np.array(["p", "qr"])
        words[0] = "pq"
        self.mark(words, words[1] == "qr", len(words), self.fetch(3), self.longest(self.fetch(4)))
        self.labels[1, 1] = "new"

    def run(self):
        self.work()
        self.mark(self.names)
        self.mark(self.labels[1, 0], self.labels[1, 1])

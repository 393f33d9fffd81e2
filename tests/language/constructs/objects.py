"""Objects created in kernels."""

from kairos.language import delay_mu, kernel, now_mu, portable

from .marks import Marks


class Point:
    DIMENSIONS = 2
    scale = 1.0

    def __init__(self, x, y=0.5):
        self.x = x
        self.y = y

    @portable
    def norm(self):
        return self.scale * (self.x * self.x + self.y * self.y)

    @portable
    def move(self, by):
        self.x += by
        return self

    @staticmethod
    @portable
    def twice(x):
        return 2 * x


class Named(Point):
    def __init__(self, name, x):
        Point.__init__(self, x, 2.0)
        self.name = name
        self.count = 0

    @portable
    def norm(self):
        self.count += 1
        return self.x + self.y


class Segment:
    @portable
    def __init__(self, start, end):
        if end.x > start.x:
            self.length = end.x - start.x
        else:
            self.length = start.x - end.x
        self.start, self.end = start, end


class Empty:
    pass


class Timed:
    def __init__(self, duration):
        self.duration = duration

    @kernel
    def __enter__(self):
        delay_mu(self.duration)

    @kernel
    def __exit__(self, kind, value, traceback):
        delay_mu(2 * self.duration)


class ObjectsMade(Marks):
    @kernel
    def run(self):
        p = Point(3.0)
        q = Point(y=1.0, x=2.0)
        self.mark(p.x, p.y, q.x, q.y, p.norm(), q.norm(), Point.DIMENSIONS, p.DIMENSIONS, p.twice(4))
        q.scale = 10.0
        q.x = 7.0
        self.mark(q.norm(), p.norm(), p.scale, p is q, p is p.move(1.0), p.x)
        p = q
        p.y = 0.0
        self.mark(q.y)


class ObjectsOfDerivedClasses(Marks):
    @kernel
    def run(self):
        named = Named("a", 1.5)
        point = Point(1.0)
        self.mark(named.name, named.norm(), named.norm(), named.count, point.norm(), named.move(2.0).x)


class ObjectsInObjects(Marks):
    @kernel
    def far(self, segment, point):
        segment.end = point
        return segment.end.x - segment.start.x

    @kernel
    def run(self):
        a, b = Point(1.0), Point(5.0)
        segment = Segment(a, b)
        self.mark(segment.length, segment.start.x, self.far(segment, Point(20.0)), segment.end.x)
        b.x = -1.0
        a.x = -2.0
        self.mark(segment.end.x, segment.start.x)
        e = Empty()
        self.mark(e is e, e is not Empty())


class ObjectsInLists(Marks):
    @kernel
    def run(self):
        points = [Point(float(i)) for i in range(4)]
        total = 0.0
        for p in points:
            p.y = p.x * 2.0
            total += p.norm()
        points[0] = Point(100.0)
        self.mark(total, points[3].y, points[0].x, len(points))
        for f in [points[1].norm, points[2].norm]:
            self.mark(f())


class ObjectAsContextManager(Marks):
    EXPECTED = [(5, 15)]

    @kernel
    def run(self):
        start = now_mu()
        with Timed(5):
            inside = now_mu()
        self.mark(inside - start, now_mu() - start)


class ChainsOfComparisons(Marks):
    """Chained comparisons of attributes whose types are still unknown when inference first visits them."""

    @kernel
    def run(self):
        self.mark(self.within(1, 3), self.within(3, 3), self.within(0, 9))

    @kernel
    def within(self, low, high):
        point = Point(low)
        between = low < point.x <= high
        point.x += 1
        return between or 0 < point.x < high

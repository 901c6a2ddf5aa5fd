"""The random streams of base/random.h again: what oracles need that must draw as the program does."""
MASK = (1 << 64) - 1


def split_mix(x):
    x = (x + 0x9E3779B97F4A7C15) & MASK
    z = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return x, z ^ (z >> 31)


def fnv(text):
    h = 0xCBF29CE484222325
    for byte in text.encode():
        h = ((h ^ byte) * 0x100000001B3) & MASK
    return h


def rotate(x, by):
    return ((x << by) | (x >> (64 - by))) & MASK


class RandomStream:
    def __init__(self, seed, purpose, client=0, round=0):
        key = seed
        for part in (fnv(purpose), client, round):
            _, mixed = split_mix(key)
            key = mixed ^ part
        self.s = []
        for _ in range(4):
            key, word = split_mix(key)
            self.s.append(word)

    def next(self):
        s = self.s
        result = (rotate((s[0] + s[3]) & MASK, 23) + s[0]) & MASK
        t = (s[1] << 17) & MASK
        s[2] ^= s[0]
        s[3] ^= s[1]
        s[1] ^= s[2]
        s[0] ^= s[3]
        s[2] ^= t
        s[3] = rotate(s[3], 45)
        return result

    def uniform(self, low=0.0, high=1.0):
        return low + (high - low) * ((self.next() >> 11) * 2.0**-53)

    def below(self, bound):
        reject = ((1 << 64) - bound) % bound
        while True:
            x = self.next()
            if x >= reject:
                return x % bound

    def permutation(self, count):
        values = list(range(count))
        for i in range(count, 1, -1):
            j = self.below(i)
            values[i - 1], values[j] = values[j], values[i - 1]
        return values

"""Mean and standard deviation by Python's statistics:  groups_oracle.py IN OUT

In: a count, then so many lists, each its length and its numbers. Out: mean and stdev of each (0 for one number)."""
import statistics
import sys

import numpy

numbers = list(numpy.fromfile(sys.argv[1]))
result = []
place = 1
for _ in range(int(numbers[0])):
    length = int(numbers[place])
    values = numbers[place + 1:place + 1 + length]
    place += 1 + length
    result += [statistics.fmean(values), statistics.stdev(values) if length > 1 else 0.0]
numpy.array(result).tofile(sys.argv[2])

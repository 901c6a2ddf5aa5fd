"""The principal plane by NumPy's SVD:  plane_oracle.py IN OUT

In: rows, columns, the rows. Out: two shares of variance, then the rows' two coordinates, up to the sign of an axis."""
import sys

import numpy

numbers = numpy.fromfile(sys.argv[1])
count, width = int(numbers[0]), int(numbers[1])
rows = numbers[2:].reshape(count, width)
rows = rows - rows.mean(axis=0)
left, values, _ = numpy.linalg.svd(rows, full_matrices=False)
shares = values[:2] ** 2 / (values ** 2).sum()
numpy.concatenate([shares, (left[:, :2] * values[:2]).ravel()]).tofile(sys.argv[2])

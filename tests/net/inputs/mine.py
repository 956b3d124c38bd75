"""Functions that `probe` calls."""

import numpy as np


def pack(tensor):
    n, c, h, w = tensor.shape
    out = np.zeros((n, -(-c // 16) * 16, h, w), tensor.dtype)
    out[:, :c] = tensor
    return out.reshape(n, -1, 16, h, w).transpose(0, 1, 3, 4, 2)


def unpack(buffer, shape):
    n, c, h, w = shape
    return buffer.transpose(0, 1, 4, 2, 3).reshape(n, -1, h, w)[:, :c]


def unpack_flat(buffer, shape):
    n, c, h, w = shape
    return buffer.reshape(n, -1, h, w, 16).transpose(0, 1, 4, 2, 3).reshape(n, -1, h, w)[:, :c]


def turned(tensor):
    return tensor.transpose(1, 0).ravel()


def short(tensor):
    return tensor.ravel()[:3]


def unlucky(tensor):
    raise KeyError("luck")


def shuffled(tensor):
    return np.sort(tensor.ravel())


def repack(tensor):
    inputs, outputs = tensor.shape
    eight = tensor.reshape(inputs // 8, 8, outputs).astype("<u4")
    return np.bitwise_or.reduce(eight << np.arange(0, 32, 4, dtype="u4")[:, None], axis=1)


def repack_pairs(tensor):
    return repack(tensor).view("u1")

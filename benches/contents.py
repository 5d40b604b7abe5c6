"""Contents of a manifest's buffers, as src/manifest/random.rs defines them."""

import numpy as np

TYPES = {"i8": np.int8, "u8": np.uint8, "i16": np.int16, "u16": np.uint16, "i32": np.int32,
         "u32": np.uint32, "i64": np.int64, "u64": np.uint64, "f16": np.float16,
         "f32": np.float32, "f64": np.float64}


def draws(seed, first, count):
    """Draws `first` to `first + count` of SplitMix64 in counter form."""
    with np.errstate(over="ignore"):
        z = np.arange(first + 1, first + count + 1, dtype=np.uint64)
        z = np.uint64(seed) + z * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ z >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ z >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
        return z ^ z >> np.uint64(31)


def high_product(z, span):
    """The upper 64 bits of z * span; span is at most 2^64."""
    if span == 1 << 64:
        return z
    high, low = z >> np.uint64(32), z & np.uint64(0xFFFFFFFF)
    span_high, span_low = np.uint64(span >> 32), np.uint64(span & 0xFFFFFFFF)
    middle = high * span_low + (low * span_low >> np.uint64(32))
    other = low * span_high + (middle & np.uint64(0xFFFFFFFF))
    return high * span_high + (middle >> np.uint64(32)) + (other >> np.uint64(32))


def random(dtype, count, seed, low, high):
    out = np.empty(count, dtype)
    chunk = 1 << 20
    for first in range(0, count, chunk):
        z = draws(seed, first, min(chunk, count - first))
        if np.issubdtype(dtype, np.floating):
            low_, high_ = (0.0, 1.0) if low is None else (low, high)
            part = (low_ + (z >> np.uint64(11)).astype(np.float64) * 2.0**-53 * (high_ - low_))
            part = part.astype(dtype)
            too_high = part.astype(np.float64) >= high_
            part[too_high] = np.nextafter(part[too_high], dtype(-np.inf))
        else:
            limits = np.iinfo(dtype)
            low_, high_ = (limits.min, limits.max) if low is None else (low, high)
            offset = high_product(z, high_ - low_ + 1)
            # Two's complement: wraps to where it belongs.
            part = (offset + np.uint64(low_ % (1 << 64))).astype(dtype)
        out[first:first + len(part)] = part
    return out


def contents(spec):
    """A buffer's first contents from its entry in a manifest. Files are not looked for."""
    if "bytes" in spec:
        return np.zeros(spec["bytes"], np.uint8)
    dtype = TYPES[spec["type"]]
    if "values" in spec:
        return np.array(spec["values"], dtype)
    if "random" in spec:
        r = spec["random"]
        return random(dtype, spec["count"], r["seed"], r.get("low"), r.get("high"))
    return np.full(spec["count"], spec.get("fill", 0), dtype)

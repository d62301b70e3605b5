"""Histograms of a run file: HdrHistogram's V2 encoding, uncompressed, as docs/run-file.md describes it.

Written from the published description of the encoding, so that the figures below the percentiles are checked by a reader
other than Plimsoll's own.
"""

import struct

from pinned import BenchError

V2_COOKIE = 0x1C849303
# The second nibble of the cookie holds the word size, which has no meaning in V2.
COOKIE_MASK = 0xFFFFFF0F
HEADER = struct.Struct(">iiiiqqd")


def counts(blob):
    """Returns {value: count} of a histogram. Each value is the lowest of its bucket. No bytes mean an empty histogram."""
    if not blob:
        return {}
    cookie, length, _, digits, lowest, _, _ = HEADER.unpack_from(blob)
    if cookie & COOKIE_MASK != V2_COOKIE & COOKIE_MASK:
        raise BenchError(f"not a V2 histogram: cookie {cookie:#x}")
    place, found = 0, {}
    for number in zigzag(blob[HEADER.size:HEADER.size + length]):
        if number < 0:
            place -= number
        else:
            if number:
                found[value_at(place, digits, lowest)] = number
            place += 1
    return found


def zigzag(data):
    """Yields the signed numbers of ZigZag LEB128 data; the ninth byte of a number carries eight bits."""
    at = 0
    while at < len(data):
        number, shift = 0, 0
        while True:
            byte, at = data[at], at + 1
            last = shift == 56 or byte < 0x80
            number |= (byte if shift == 56 else byte & 0x7F) << shift
            shift += 7
            if last:
                break
        yield (number >> 1) ^ -(number & 1)


def value_at(place, digits, lowest):
    """Returns the lowest value that is counted in a bucket."""
    half_bits = (2 * 10**digits - 1).bit_length() - 1
    half = 1 << half_bits
    unit_bits = lowest.bit_length() - 1
    bucket = (place >> half_bits) - 1
    within = (place & (half - 1)) + half
    if bucket < 0:
        bucket, within = 0, within - half
    return within << (bucket + unit_bits)


def merged(blobs):
    """Merges histograms into one {value: count}; the sum is exact."""
    total = {}
    for blob in blobs:
        for value, count in counts(blob).items():
            total[value] = total.get(value, 0) + count
    return total

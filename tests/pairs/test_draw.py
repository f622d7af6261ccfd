"""A draw by hashes: the smallest ones, in bounded memory, each once."""

import random

from psp.pairs.draw import HashDraw


def test_a_draw_is_the_items_with_the_smallest_hashes_and_holds_few():
    source = random.Random(3)
    keys = [source.randbytes(16) for _ in range(2000)]
    draw = HashDraw(10)
    for key in keys:
        draw.add(key, key.hex())
        assert len(draw._held) <= 2 * 10 + 2
    assert draw.items() == [key.hex() for key in sorted(keys)[:10]]
    assert int(draw.limit) == int.from_bytes(sorted(keys)[9][:8], "big")
    assert draw.wants(sorted(keys)[9]) and not draw.wants(sorted(keys)[10])


def test_a_hash_is_drawn_once_and_its_items_are_joined():
    draw = HashDraw(2, max)
    for key, item in ((b"a", 1), (b"b", 5), (b"a", 3), (b"a", 2)):
        draw.add(key, item)
    assert draw.items() == [3, 5]

"""The format of numbers."""

from __future__ import annotations

import pytest

from weft import quantity


@pytest.mark.parametrize(
    ("got", "expected"),
    [
        (quantity.seconds(0.00123456), "1.23 ms"),
        (quantity.seconds(0.00123456, 0.0000456), "1.23 ±0.046 ms"),
        (quantity.seconds(2.5e-5), "25.0 µs"),
        (quantity.seconds(0.0009999), "1.00 ms"),
        (quantity.seconds(0.0), "0 ns"),
        (quantity.seconds(83.2), "83.2 s"),
        (quantity.seconds(None), "–"),
        (quantity.rate(9.41e8), "941 Mbps"),
        (quantity.rate(1e9), "1.00 Gbps"),
        (quantity.rate(400e9), "400 Gbps"),
        (quantity.rate(327.68e12), "328 Tbps"),
        (quantity.size(1.5e6), "1.50 MB"),
        (quantity.count(9999.0), "9,999"),
        (quantity.of_whole(0.83371), "83.4 %"),
        (quantity.of_whole(0.0321), "3.2 %"),
        (quantity.of_whole(8.84e-8), "<0.1 %"),
        (quantity.of_whole(0.0), "0.0 %"),
        (quantity.count(12_345_678), "12.3 M"),
        (quantity.count(0.3333), "0.333"),
        (quantity.count(12_543.7, 6_412.0), "12,544 ±6,400"),
        (quantity.seconds(1.0, 6.3e-6), "1.00 ±<0.001 s"),
        (quantity.seconds(0.0000171, 4e-13), "17.1 ±<0.01 µs"),
        (quantity.fixed(0.004, 2), "<0.01"),
        (quantity.fixed(0.006, 2), "0.01"),
        (quantity.fixed(0.0, 1), "0.0"),
        (quantity.seconds(1.0, 0.0123), "1.00 ±0.012 s"),
        (quantity.percent(0.1234), "12.3 %"),
        (quantity.percent(0.1234, 0.011), "12.3 ±1.1 %"),
        (quantity.change(-0.1234, 0.02), "−12.3 ±2.0 %"),
        (quantity.change(2.5), "+250 %"),
        (quantity.ratio(2.0), "2.00"),
        (quantity.clock(59.4), "59 s"),
        (quantity.clock(200), "3 min 20 s"),
        (quantity.clock(3900), "1 h 05 min"),
        (quantity.clock(float("inf")), "–"),
    ],
)
def test_a_quantity_is_spelled_with_three_digits_and_the_unit_that_fits(got, expected):
    assert got == expected


def test_a_range_is_its_ends_or_one_value():
    assert quantity.span([3.0, None, 1.2], quantity.seconds) == "1.20 s to 3.00 s"
    assert quantity.span([2.0, 2.0], quantity.count) == "2"
    assert quantity.span([None], quantity.size) == quantity.MISSING


def test_a_quantity_and_its_interval_are_taken_apart_with_the_unit_on_both():
    assert quantity.parts("s", 0.00123456, 0.0000456) == ("1.23 ms", "±0.046 ms")
    assert quantity.parts("count", 12_543.7, 6_412.0) == ("12,544", "±6,400")
    assert quantity.parts("count", 12_345_678, 100_000) == ("12.3 M", "±0.10 M")
    assert quantity.parts("s", 0.00171, 1e-8) == ("1.71 ms", "±<0.001 ms")
    assert quantity.parts("share", 0.5, None) == ("50.0 %", "")

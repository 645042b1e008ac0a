"""Benchmarks: ratios from one interleaved run on a durable server. `./run bench NAME`."""

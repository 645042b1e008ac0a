"""Hand-made mutants: small faults that the tests must find. `./run mutants`."""

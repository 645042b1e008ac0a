"""Pure rules: values in, values out; no clock, no I/O."""

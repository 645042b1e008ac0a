"""Each draws one thing from bound data and emits its own messages."""

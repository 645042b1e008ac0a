"""The lead's screens."""

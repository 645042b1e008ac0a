"""The queue against a small model of itself, and histories of races that a checker explains."""

"""The words both sides of the wire share; imports neither side."""

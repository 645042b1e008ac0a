"""Loops that call one service each."""

"""Every check of the house. A package, so that no other `tests` can stand in for it."""

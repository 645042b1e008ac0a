"""The HTTP client of producers and of the workstation: the one place in `shared` that knows httpx."""

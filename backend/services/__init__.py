"""One verb a module: load, ask the domain, write, in one transaction."""

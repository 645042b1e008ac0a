"""The only room that knows asyncpg: one function for each named statement."""

"""What the queue promises, written a second time: dicts and whole seconds, nothing else.

It reads no SQL and calls no service. Each operation changes the world as the promise says and
returns what a caller must be told. What only the database can know (tokens, ids) is handed in.
"""

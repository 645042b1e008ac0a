"""The schema and its statements, against a real server."""

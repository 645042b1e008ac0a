"""The server's side: API, workers, services, database."""

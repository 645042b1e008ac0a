"""The one HTTP client, for producers and for the terminal."""

"""Pictures of every screen, made offline from the real application on a fake server."""

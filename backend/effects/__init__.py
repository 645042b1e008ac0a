"""The outside world: webhooks, scorers and the one guarded way out."""

"""Pure state of the terminal: no Textual, no HTTP, no asyncio."""

"""The only room that knows Litestar: it translates and never decides."""

"""What tests share: databases, builders, drivers of processes."""

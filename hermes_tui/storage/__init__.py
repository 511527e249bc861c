"""SQL in, domain values out. Everything here runs on a reader thread, synchronously, and only reads."""

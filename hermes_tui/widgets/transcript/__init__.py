"""The transcript's reader: pure text setting (rows), and one widget that shows conversations of any length."""

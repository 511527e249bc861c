"""One module a screen. Screens own service calls and workers, and do not know each other."""

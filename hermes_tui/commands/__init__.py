"""What the command line does without a screen: one module a command, text and JSON beside each other."""

"""What can be seen: shown domain values, and messages that carry domain values. No service, no storage."""

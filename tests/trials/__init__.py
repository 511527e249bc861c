"""Trials: the program beside a live writer, under random keys, and on stores that were damaged by lot.

python -m tests.trials fuzz|monkey|writer [--seed N] [--minutes M | --keys N]
"""

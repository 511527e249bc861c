"""Questions that can be awaited: the only place where asyncio and threads meet."""

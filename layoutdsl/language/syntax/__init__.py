"""Text and tree: what was written, before it means anything. No other package imports lark."""

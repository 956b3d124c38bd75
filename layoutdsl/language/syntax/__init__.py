"""Text and tree: what was written, before it means anything. The only room with lark."""

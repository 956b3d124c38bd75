"""Declarations -> layouts, tables and claims, or diagnostics; every rule of meaning."""

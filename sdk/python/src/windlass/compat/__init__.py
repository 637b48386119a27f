"""Sources of the reference release: `import windlass.compat` lets them run outside a worker.

Workers install the alias themselves. In tests, notebooks and scripts, import this module first:

    import windlass.compat
    from flux import task, workflow

`docs/python/migrating.md` lists what is the same and what differs.
"""

from windlass.compat._finder import install

__all__ = ["install"]

install()

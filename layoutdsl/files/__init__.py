"""Files that somebody named: where a result goes, how it is put there, what arrays they hold.

And folders of our own, which nobody else may write.
"""

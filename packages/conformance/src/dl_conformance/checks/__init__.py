"""What a library owes its host besides operators: a file for each subject.

A check is a function of a vendor. It returns where all is right, raises :class:`.check.WrongError`
where something is wrong, and :class:`.check.SkipError` where the vendor offers no such thing.
"""

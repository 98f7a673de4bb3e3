"""Calls of aclnn functions, and what torch computes for arguments of the same names."""

"""``dl dicp test``: torch's operators and small models, compiled and eager on the same device."""

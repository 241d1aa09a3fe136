import TestSupport

/// Returns the size for an ordinary run or for a deep run.
func size(_ ordinary: Int, deep: Int) -> Int { isDeep ? deep : ordinary }

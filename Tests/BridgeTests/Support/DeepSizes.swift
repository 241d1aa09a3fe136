import TaskOperationsExpectations

/// A size for the ordinary run, and one for the deep run.
func size(_ ordinary: Int, deep: Int) -> Int { isDeep ? deep : ordinary }

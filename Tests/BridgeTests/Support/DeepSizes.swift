import Foundation

/// Whether tests run in their full size. Their ordinary one takes seconds.
let isDeep = ProcessInfo.processInfo.environment["TASK_OPERATIONS_DEEP"] != nil

/// A size for the ordinary run, and one for the deep run.
func size(_ ordinary: Int, deep: Int) -> Int { isDeep ? deep : ordinary }

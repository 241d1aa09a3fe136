import TaskOperations

/// Work that has a permit of a pool's limit. The work and its child tasks find it through a task local.
final class PoolLoan: Sendable {
    @TaskLocal private static var inherited: PoolLoan?

    private let limit: AsyncSemaphore
    /// The loan of the work that began this work.
    private let outer: PoolLoan?
    private let binding = TaskBinding()

    private init(_ limit: AsyncSemaphore, within outer: PoolLoan?) {
        self.limit = limit
        self.outer = outer
    }

    /// Runs work that has a permit of a limit.
    static func during<Value>(
        _ limit: AsyncSemaphore, isolation: isolated (any Actor)? = #isolation, _ work: () async throws -> Value
    ) async rethrows -> Value {
        let loan = PoolLoan(limit, within: current)
        return try await loan.binding.during($inherited, loan, work)
    }

    /// Whether the calling task belongs to work that has a permit of a limit.
    static func has(_ limit: AsyncSemaphore) -> Bool {
        var loan = current
        while let present = loan {
            if present.limit === limit { return true }
            loan = present.outer
        }
        return AnyTaskOperation.current?.limits.contains { $0 === limit } ?? false
    }

    private static var current: PoolLoan? {
        guard let inherited, inherited.binding.isCurrent($inherited) else { return nil }
        return inherited
    }
}

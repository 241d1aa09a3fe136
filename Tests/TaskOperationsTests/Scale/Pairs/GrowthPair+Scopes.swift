import TaskOperations
import TaskOperationsTesting

extension GrowthPair {
    static let scopes = [
        GrowthPair("operations that wait outside, and scopes of a body, one after the other") { count, executor in
            let outer = executor.queue(isSuspended: true)
            for _ in 0..<count { outer.addOperation {} }
            try await executor.queue().addOperation {
                for _ in 0..<count {
                    try await withTaskOperationQueue(.init(executor: executor)) { queue in _ = queue.addOperation {} }
                }
            }.value
            outer.isSuspended = false
            try await outer.waitUntilAllOperationsAreFinished()
        },
        GrowthPair("scopes of as many bodies at once, and operations of which each scope has one") { count, executor in
            let queue = executor.queue()
            for _ in 0..<count {
                queue.addOperation {
                    try await withTaskOperationQueue(.init(executor: executor)) { scope in _ = scope.addOperation {} }
                }
            }
            try await queue.waitUntilAllOperationsAreFinished()
        },
        GrowthPair("scopes within scopes, and operations that wait outside for the outermost") { count, executor in
            @Sendable func descend(_ depth: Int) async {
                if depth == 0 { return }
                try? await withTaskOperationQueue(.init(executor: executor)) { scope in
                    _ = scope.addOperation { await descend(depth - 1) }
                }
            }
            let queue = executor.queue()
            let outermost = queue.addOperation { await descend(count / 4) }
            for _ in 0..<count { queue.addOperation(dependencies: [outermost]) {} }
            try await queue.waitUntilAllOperationsAreFinished()
        },
        GrowthPair("scopes of a body, and barriers of which each scope has one") { count, executor in
            try await executor.queue().addOperation {
                for _ in 0..<count {
                    try await withTaskOperationQueue(.init(executor: executor)) { scope in
                        scope.addOperation {}
                        scope.addBarrier {}
                        scope.addOperation {}
                    }
                }
            }.value
        },
        GrowthPair("barriers that wait outside for a body, and scopes of the body") { count, executor in
            let outer = executor.queue()
            let body = outer.addOperation {
                for _ in 0..<count {
                    try await withTaskOperationQueue(.init(executor: executor)) { scope in _ = scope.addOperation {} }
                }
            }
            for _ in 0..<count { outer.addBarrier {} }
            try await outer.waitUntilAllOperationsAreFinished()
            try await body.value
        },
        GrowthPair("queues that are busy, and scopes") { count, executor in
            let gate = Gate()
            let queues = (0..<count).map { _ in executor.queue(width: 1) }
            for queue in queues { queue.addOperation { await gate.pass() } }
            for _ in 0..<count {
                try await withTaskOperationQueue(.init(executor: executor)) { scope in _ = scope.addOperation {} }
            }
            gate.open()
            for queue in queues { try await queue.waitUntilAllOperationsAreFinished() }
        },
    ]
}

// Declarations that users of Operation and Dispatch might try first. The message of each declaration names the right
// form. Tests/Diagnostics/WrongCalls.swift uses each declaration, and contains the compiler's message.

extension AnyTaskOperation {
    @available(*, unavailable, message: "call addCompletionHandler(_:), or whenFinished(_:) to stay on your actor")
    public var completionBlock: (@Sendable () -> Void)? {
        get { nil }
        set {}
    }

    @available(*, unavailable, message: "pass .priority(_:) as an option, or set 'priority'")
    public var queuePriority: TaskPriority {
        get { priority }
        set {}
    }
}

extension TaskOperationQueue {
    @available(*, unavailable, message: "pass defaults: .priority(_:) to the configuration of the queue")
    public var qualityOfService: TaskPriority {
        get { .medium }
        set {}
    }

    @available(*, unavailable, message: "create the queue with underlyingQueue: from TaskOperationsBridge")
    public var underlyingQueue: AnyObject? {
        get { nil }
        set {}
    }

    @available(*, unavailable, message: "set isSuspended = true")
    public func suspend() {}

    @available(*, unavailable, message: "set isSuspended = false")
    public func resume() {}

    @available(*, unavailable, message: "call addBarrier(_:body:)")
    public func addBarrierBlock(_ body: () -> Void) {}

    @available(*, unavailable, message: "call addOperation(_:body:)")
    public func async(execute body: () -> Void) {}

    @available(*, unavailable, message: "call 'try await queue.run { … }'")
    public func sync<Success>(execute body: () throws -> Success) rethrows -> Success { try body() }

    @available(*, unavailable, message: "add the operations, then await 'waitUntilAllOperationsAreFinished()'")
    public func addOperations(_ operations: [AnyTaskOperation], waitUntilFinished: Bool) {}

    @available(
        *, unavailable, message: "combine options in an array: addOperation([.weight(2), .delay(.seconds(1))]) { … }"
    )
    @discardableResult
    public func addOperation<Success>(
        _ first: OperationOptions, _ second: OperationOptions, _ others: OperationOptions...,
        body: @escaping TaskOperation<Success>.Body
    ) -> TaskOperation<Success> { TaskOperation(body: body) }

    @available(*, unavailable, message: "pass options: addOperation([.timeout(_:), .retry(_:), …]) { … }")
    @discardableResult
    public func addOperation<Success>(
        weight: Int? = nil, limits: [AsyncSemaphore]? = nil, delay: Duration? = nil, deadline: Duration? = nil,
        timeout: Duration? = nil, retry: RetryPolicy? = nil, body: @escaping TaskOperation<Success>.Body
    ) -> TaskOperation<Success> { TaskOperation(body: body) }
}

extension OperationOptions {
    @available(*, unavailable, message: "use .retry(.immediately(attempts:)) or .exponential(initial:attempts:)")
    public static func retry(_ attempts: Int) -> OperationOptions { OperationOptions() }
}

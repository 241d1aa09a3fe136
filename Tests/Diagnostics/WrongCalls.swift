// The compiler's message for each of the most natural wrong calls. `.ci/run` compares them with these comments.

import TaskOperations

func options(queue: TaskOperationQueue, number: TaskOperation<Int>, limit: AsyncSemaphore, policy: RetryPolicy) {
    // expected-error@+1 {{pass options: addOperation([.timeout(_:), .retry(_:), …]) { … }}}
    queue.addOperation(timeout: .seconds(2)) { 1 }
    // expected-error@+1 {{pass options: addOperation([.timeout(_:), .retry(_:), …]) { … }}}
    queue.addOperation(weight: 3, limits: [limit], retry: policy) { 1 }
    // expected-error@+1 {{combine options in an array: addOperation([.weight(2), .delay(.seconds(1))]) { … }}}
    queue.addOperation(.weight(3), .delay(.seconds(1))) { 1 }
    // expected-error@+1 {{use .retry(.immediately(attempts:)) or .exponential(initial:attempts:)}}
    queue.addOperation(.retry(3)) { 1 }
    // expected-error@+1 {{contextual type for closure argument list expects 1 argument}}
    queue.addOperation(after: number) { 1 }
}

func names(queue: TaskOperationQueue, number: TaskOperation<Int>) {
    // expected-error@+1 {{add the operations, then await 'waitUntilAllOperationsAreFinished()'}}
    queue.addOperations([number], waitUntilFinished: true)
    // expected-error@+1 {{call addBarrier(_:body:)}}
    queue.addBarrierBlock {}
    // expected-error@+1 {{call addOperation(_:body:)}}
    queue.async {}
    // expected-error@+1 {{call 'try await queue.run { … }'}}
    queue.sync {}
    // expected-error@+1 {{set isSuspended = true}}
    queue.suspend()
    // expected-error@+1 {{pass defaults: .priority(_:) to the configuration of the queue}}
    queue.qualityOfService = .utility
    // expected-error@+1 {{call addCompletionHandler(_:), or whenFinished(_:) to stay on your actor}}
    number.completionBlock = {}
    // expected-error@+1 {{pass .priority(_:) as an option, or set 'priority'}}
    number.queuePriority = .high
}

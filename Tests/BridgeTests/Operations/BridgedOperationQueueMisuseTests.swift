import Dispatch
import Foundation
import TaskOperations
import TaskOperationsTesting
import TestSupport
import Testing

@testable import TaskOperationsBridge

#if os(Linux) || os(macOS)
    @Suite("Wrong use of a bridged queue stops with a message that names the remedy", .inTurns, .prompt)
    struct BridgedOperationQueueMisuseTests {
        private static func message(_ result: ExitTest.Result?) -> String {
            String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        }

        @Test("an operation that was added before")
        func twice() async {
            let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                let queue = BridgedOperationQueue()
                queue.isSuspended = true
                let operation = BlockOperation {}
                operation.name = "upload"
                queue.addOperation(operation)
                queue.addOperation(operation)
            }
            #expect(Self.message(result).contains("\"upload\" (BlockOperation) was already added to a queue."))
        }

        @Test("a negative width")
        func width() async {
            let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                BridgedOperationQueue().maxConcurrentOperationCount = -2
            }
            #expect(Self.message(result).contains("maxConcurrentOperationCount is -2"))
        }

        @Test("an underlying queue that is set too late")
        func underlyingQueue() async {
            let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                let queue = BridgedOperationQueue()
                queue.isSuspended = true
                queue.addOperation {}
                queue.underlyingQueue = .main
            }
            #expect(Self.message(result).contains("Set it before adding any"))
        }
    }
#endif

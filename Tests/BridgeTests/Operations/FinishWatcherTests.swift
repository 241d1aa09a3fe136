import Dispatch
import Foundation
import TaskOperationsExtras
import TaskOperationsTesting
import TestSupport
import Testing

@testable import TaskOperationsBridge

@Suite("Watching for the end of an operation of Foundation", .inTurns, .endsInTime)
struct FinishWatcherTests {
    @Test("an operation that ends while the watch begins is told once")
    func anyMoment() async {
        for _ in 0..<size(500, deep: 5_000) {
            let (told, calls) = (Gate(), ConcurrencyMeter())
            let operation = AsynchronousOperation { _ in }
            operation.start()
            let watcher = FinishWatcher {
                calls.enter()
                told.open()
            }
            DispatchQueue.concurrentPerform(iterations: 2) { number in
                if number == 0 { watcher.watch(operation) } else { operation.finish() }
            }
            await told.pass()
            bridgeQueue.sync {}
            #expect(calls.total == 1)
        }
    }

    @Test("the thread that ends the operation does not call the handler: it may hold locks of the operation's class")
    func ownThread() {
        let key = DispatchSpecificKey<Bool>()
        bridgeQueue.setSpecific(key: key, value: true)
        defer { bridgeQueue.setSpecific(key: key, value: nil) }
        let places = Recorder<Bool>()
        let operation = AsynchronousOperation { _ in }
        operation.start()
        let watcher = FinishWatcher { places.record(DispatchQueue.getSpecific(key: key) ?? false) }
        watcher.watch(operation)
        operation.finish()
        bridgeQueue.sync {}
        #expect(places.events == [true])
    }

    @Test("a class that changes isFinished without a notification is seen when the watch begins")
    func silentEnd() async {
        final class Silent: Foundation.Operation, @unchecked Sendable {  // All stored properties are constant.
            override var isFinished: Bool { true }
        }
        let told = Gate()
        let watcher = FinishWatcher { told.open() }
        watcher.watch(Silent())
        await told.pass()
    }

    @Test("a stopped watcher is not called, and nothing keeps it, though the operation never finishes")
    func stopped() {
        let calls = ConcurrencyMeter()
        let operation = AsynchronousOperation { _ in }
        operation.start()
        weak var released: FinishWatcher?
        do {
            let watcher = FinishWatcher { calls.enter() }
            released = watcher
            watcher.watch(operation)
            watcher.stop(watching: operation)
        }
        bridgeQueue.sync {}
        #expect(released == nil)
        operation.finish()
        bridgeQueue.sync {}
        #expect(calls.total == 0)
    }
}

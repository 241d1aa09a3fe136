internal import Dispatch
internal import Foundation
internal import TaskOperations

#if canImport(ObjectiveC)
    /// Starts an operation that is not ready although its turn has come, because its class says so or because it got
    /// a dependency late. The permit of the body that waits is lent out until it is ready.
    struct ReadinessRelay {
        let legacy: Foundation.Operation

        init(_ legacy: Foundation.Operation) {
            self.legacy = legacy
        }

        func run() async {
            let ready = TaskOperation.standIn(name: "isReady of \(legacy.title)", keeping: legacy)
            let observation = legacy.observe(\.isReady, options: .initial) { legacy, _ in
                if legacy.isReady { ready.endFromOutside() }
            }
            try? await ready.waitToTheEnd()
            observation.invalidate()
            await LegacyThreads.shared.call { [legacy] in legacy.start() }
        }
    }
#else
    /// Starts an operation that is not ready although its turn has come, because its class says so or because it got
    /// a dependency late. The permit of the body that waits is lent out until it is ready.
    ///
    /// Foundation without the Objective-C runtime tells only the `OperationQueue` of an operation that it became
    /// ready. So it gets one for itself. That queue hands what is ready to a Dispatch queue which does not run yet, and
    /// then asks the other operations in it whether they are ready too; one of these listens.
    struct ReadinessRelay {
        private let queue = OperationQueue()
        private let gate = DispatchQueue(label: "ReadinessRelay", attributes: .initiallyInactive)
        private let ready: AnyTaskOperation
        private let legacy: Foundation.Operation

        init(_ legacy: Foundation.Operation) {
            self.legacy = legacy
            ready = TaskOperation.standIn(name: "isReady of \(legacy.title)", keeping: legacy)
            queue.underlyingQueue = gate
        }

        func run() async {
            queue.addOperation(ReadinessListener(to: legacy, ending: ready))
            queue.addOperation(legacy)
            try? await ready.waitToTheEnd()
            gate.activate()
            await legacy.end.waitUntilFinishedKeepingPermit()
        }
    }

    private final class ReadinessListener: Foundation.Operation, @unchecked Sendable {  // All it has is constant.
        private let legacy: Foundation.Operation
        private let ready: AnyTaskOperation

        init(to legacy: Foundation.Operation, ending ready: AnyTaskOperation) {
            self.legacy = legacy
            self.ready = ready
        }

        override var isReady: Bool {
            let isReady = legacy.isReady
            if isReady { ready.endFromOutside() }
            return isReady
        }
    }
#endif

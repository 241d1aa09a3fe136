import Foundation
import TaskOperations
import TaskOperationsTesting

/// An operation that exists for an operation of a `BridgeProgram`.
struct BridgeSubject: Sendable {
    let operation: AnyOperation
    let becomeReady: @Sendable () -> Void
    /// Ends an operation that executes until the program ends it; nil if the operation ends without that.
    let finish: (@Sendable () -> Void)?

    init(_ number: Int, style: OperationStyle?, events: Recorder<BridgeModel.Event>) {
        let (begin, end) = (
            { @Sendable in events.record(.began(number)) }, { @Sendable in events.record(.ended(number)) }
        )
        switch style {
        case nil:
            let gate = Gate()
            operation = .ours(
                TaskOperation<Void>(name: "\(number)") {
                    begin()
                    await gate.pass()
                    end()
                })
            (becomeReady, finish) = ({}, { gate.open() })
        case .asynchronous:
            let asynchronous = AsynchronousOperation(name: "\(number)") { _ in begin() }
            operation = .foundation(asynchronous)
            becomeReady = {}
            finish = { [weak asynchronous] in
                end()
                asynchronous?.finish()
            }
        case .conditioned:
            let promise = BridgePromise()
            let conditioned = ConditionedOperation(
                name: "\(number)", condition: { promise.isAsked(by: $0) }, work: { _ in begin() })
            operation = .foundation(conditioned)
            becomeReady = { promise.keep() }
            finish = { [weak conditioned] in
                end()
                conditioned?.finish()
            }
        case let style?:
            let styled = style.make {
                begin()
                end()
            }
            styled.operation.name = "\(number)"
            operation = .foundation(styled.operation)
            (becomeReady, finish) = (styled.becomeReady, nil)
        }
    }
}

/// The condition of an operation. It is true once `keep()` was called.
private final class BridgePromise: Sendable {
    private let state = Lock<(isKept: Bool, satisfied: (@Sendable () -> Void)?)>((false, nil))

    func isAsked(by satisfied: @escaping @Sendable () -> Void) {
        let isKept = state.withLock { state in
            if !state.isKept { state.satisfied = satisfied }
            return state.isKept
        }
        if isKept { satisfied() }
    }

    func keep() {
        let satisfied = state.withLock { state in
            state.isKept = true
            return state.satisfied.take()
        }
        satisfied?()
    }
}

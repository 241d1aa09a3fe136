internal import Dispatch

/// Whether the current code runs on the main actor. Unlike `MainActor.assertIsolated()`, it can be used in an
/// expectation.
package enum MainThread {
    private static let key: DispatchSpecificKey<Bool> = {
        let key = DispatchSpecificKey<Bool>()
        DispatchQueue.main.setSpecific(key: key, value: true)
        return key
    }()

    package static var isCurrent: Bool { DispatchQueue.getSpecific(key: key) ?? false }
}

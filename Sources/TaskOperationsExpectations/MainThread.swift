internal import Dispatch

/// Tells whether code runs where the main actor does. Unlike `MainActor.assertIsolated()`, it leaves the decision to
/// an expectation.
package enum MainThread {
    private static let key: DispatchSpecificKey<Bool> = {
        let key = DispatchSpecificKey<Bool>()
        DispatchQueue.main.setSpecific(key: key, value: true)
        return key
    }()

    package static var isCurrent: Bool { DispatchQueue.getSpecific(key: key) ?? false }
}

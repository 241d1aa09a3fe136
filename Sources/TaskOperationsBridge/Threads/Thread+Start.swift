internal import Dispatch
internal import Foundation

extension Thread {
    /// Starts a thread with a name.
    ///
    /// - Parameters:
    ///   - name: What it is called.
    ///   - stackSize: The bytes of its stack; nil for the system's own choice.
    ///   - body: What it does. It may block.
    static func start(name: String, stackSize: Int? = nil, body: @escaping @Sendable () -> Void) {
        // On Linux a name has no effect before the end of `start()`, and none where it is longer than 15 bytes.
        let hasStarted = DispatchSemaphore(value: 0)
        let thread = Thread { @Sendable in
            hasStarted.wait()
            #if os(Linux) || os(Android)
                Thread.current.name = String(decoding: name.utf8.prefix(15), as: UTF8.self)
            #else
                Thread.current.name = name
            #endif
            body()
        }
        if let stackSize { thread.stackSize = stackSize }
        thread.start()
        hasStarted.signal()
    }
}

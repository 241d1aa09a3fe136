/// Starts detached threads of the operating system. The memory of a thread is freed when the thread ends.
package enum SystemThread {
    /// The arguments of a new thread, which are passed as one pointer.
    private final class Start: Sendable {
        let name: String
        let body: @Sendable () -> Void

        init(name: String, body: @escaping @Sendable () -> Void) {
            self.name = name
            self.body = body
        }
    }

    /// Starts a thread.
    ///
    /// - Parameters:
    ///   - name: The name of the thread. Linux keeps only the first 15 bytes.
    ///   - stackSize: The size of the thread's stack in bytes; nil for the default size of the system. The size is
    ///     rounded up to whole pages.
    ///   - body: The work of the thread, which may block it.
    /// - Returns: 0 if the thread was started; otherwise the error code of the system. On POSIX systems, the error code
    ///   is `EAGAIN` if there are too many threads or too little memory.
    package static func start(
        name: String, stackSize: Int? = nil, body: @escaping @Sendable () -> Void
    ) -> Int32 {
        let start = Unmanaged.passRetained(Start(name: name, body: body))
        let error = startThread(stackSize: stackSize, with: start.toOpaque())
        if error != 0 { start.release() }
        return error
    }

    /// Names the calling thread, and runs its body.
    ///
    /// - Parameter pointer: The pointer that was passed to `startThread`.
    static func run(_ pointer: UnsafeMutableRawPointer) {
        // `start` retained the object once, for this call.
        let start = Unmanaged<Start>.fromOpaque(pointer).takeRetainedValue()
        nameThread(start.name)
        start.body()
    }

    /// Performs work in a new autorelease pool, if the platform has autorelease pools.
    package static func inReleasePool(_ work: () -> Void) { withReleasePool(work) }
}

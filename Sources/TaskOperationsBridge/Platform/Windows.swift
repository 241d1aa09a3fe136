#if os(Windows)
    public import Dispatch

    extension DispatchSource {
        @available(*, unavailable, message: "Windows has no signals; handle console events with SetConsoleCtrlHandler.")
        public static func signalEvents(signal: Int32) async -> DispatchSourceEvents<Int32> { fatalError() }

        @available(
            *, unavailable, message: "Windows has no process identifiers to wait for; wait for a process handle."
        )
        public static func processExit(identifier: Int32) throws(SystemCallError) -> DispatchSourceEvents<Int32> {
            fatalError()
        }

        @available(*, unavailable, message: "Windows cannot poll descriptors; use a Dispatch source for a handle.")
        public static func readEvents(fileDescriptor: Int32) -> DispatchSourceEvents<Int32> { fatalError() }

        @available(*, unavailable, message: "Windows cannot poll descriptors; use a Dispatch source for a handle.")
        public static func writeEvents(fileDescriptor: Int32) -> DispatchSourceEvents<Int32> { fatalError() }
    }
#endif

import Dispatch
import Foundation

/// Identifies the calling thread as long as it lives.
func currentThreadIdentity() -> ObjectIdentifier { ObjectIdentifier(Thread.current) }

/// The system's name of the calling thread.
func threadName() throws -> String {
    #if os(Linux)
        try String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8).trimmingCharacters(in: .newlines)
    #else
        var name = [CChar](repeating: 0, count: 64)
        pthread_getname_np(pthread_self(), &name, name.count)
        return String(cString: name)
    #endif
}

/// Blocks the thread, as old code does.
func block(on semaphore: DispatchSemaphore) { semaphore.wait() }

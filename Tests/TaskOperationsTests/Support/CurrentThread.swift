import Dispatch
import Foundation

/// Returns an identity of the calling thread that is unique while the thread exists.
func currentThreadIdentity() -> ObjectIdentifier { ObjectIdentifier(Thread.current) }

/// Returns the calling thread's name as the system reports it.
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

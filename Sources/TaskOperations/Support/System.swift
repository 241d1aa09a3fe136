// What the standard library does not tell, and the system's C library does.

#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// How many processors are at work: as many threads as the cooperative pool has.
let processorCount = max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))))

/// Lets another thread have the processor, if one wants it.
func yieldThread() { sched_yield() }

/// Writes bytes to standard error, past all buffers.
func writeToStandardError(_ text: String) {
    let bytes = Array(text.utf8)
    _ = write(STDERR_FILENO, bytes, bytes.count)
}

/// An address that each thread has for itself; nil at first.
private struct ThreadAddress: Sendable {
    private let key: pthread_key_t

    init() {
        var key = pthread_key_t()
        let error = pthread_key_create(&key, nil)
        precondition(error == 0, "no key for values of a thread is left")
        self.key = key
    }

    var value: UnsafeMutableRawPointer? {
        get { pthread_getspecific(key) }
        nonmutating set { pthread_setspecific(key, newValue) }
    }
}

/// A mark that each thread carries: the identity of an object, or none.
struct ThreadMark: Sendable {
    private let address = ThreadAddress()

    /// Whether the calling thread carries the mark of an object.
    func isSet(to object: ObjectIdentifier) -> Bool {
        UInt(bitPattern: address.value) == UInt(bitPattern: object)
    }

    /// Marks the calling thread.
    func set(to object: ObjectIdentifier) {
        address.value = UnsafeMutableRawPointer(bitPattern: UInt(bitPattern: object))
    }
}

/// A variable on its stack that each thread knows, or none.
struct ThreadVariable<Value>: Sendable {
    private let address = ThreadAddress()

    var pointer: UnsafeMutablePointer<Value>? {
        get { address.value?.assumingMemoryBound(to: Value.self) }
        nonmutating set { address.value = UnsafeMutableRawPointer(newValue) }
    }
}

/// A number for the calling thread; never 0.
var currentThread: UInt {
    #if canImport(Darwin)
        UInt(bitPattern: pthread_self())
    #elseif canImport(Glibc)
        UInt(pthread_self())
    #elseif canImport(Musl)
        UInt(bitPattern: pthread_self())
    #endif
}

/// Which worker was the last to begin a slice on the calling thread.
enum LastSlice {
    private static let mark = ThreadMark()

    static func isWorker(_ worker: ObjectIdentifier) -> Bool { mark.isSet(to: worker) }

    static func setWorker(_ worker: ObjectIdentifier) { mark.set(to: worker) }
}

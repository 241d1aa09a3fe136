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

/// Which worker was the last to begin a slice on the calling thread.
enum LastSlice {
    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        let error = pthread_key_create(&key, nil)
        precondition(error == 0, "no key for values of a thread is left")
        return key
    }()

    static func isWorker(_ worker: ObjectIdentifier) -> Bool {
        UInt(bitPattern: pthread_getspecific(key)) == UInt(bitPattern: worker)
    }

    static func setWorker(_ worker: ObjectIdentifier) {
        pthread_setspecific(key, UnsafeRawPointer(bitPattern: UInt(bitPattern: worker)))
    }
}

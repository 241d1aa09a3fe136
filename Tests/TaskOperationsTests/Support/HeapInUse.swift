import CTools

/// The number of bytes that the process has allocated and not freed; nil if the allocator does not report it.
var heapInUse: Int? {
    #if canImport(Glibc)
        let statistics = mallinfo2()
        return Int(statistics.uordblks) + Int(statistics.hblkhd)
    #else
        return nil
    #endif
}

/// Returns the average number of bytes that a call leaves allocated. A few unmeasured calls first allocate the memory
/// that is needed once, for example metadata. Use this function only in a process without other work.
func bytesKept(by count: Int, _ call: () -> Void) -> Double {
    for _ in 0..<100 { call() }
    let before = heapInUse ?? 0
    for _ in 0..<count { call() }
    return Double((heapInUse ?? 0) - before) / Double(count)
}

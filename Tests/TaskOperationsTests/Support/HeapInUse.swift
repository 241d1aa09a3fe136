import CAllocator

/// Bytes that the process has allocated and not freed; nil if the allocator does not tell.
var heapInUse: Int? {
    #if canImport(Glibc)
        let statistics = mallinfo2()
        return Int(statistics.uordblks) + Int(statistics.hblkhd)
    #else
        return nil
    #endif
}

/// The average number of bytes that each of many calls leaves allocated. A few calls before allocate the memory that is
/// needed once, such as metadata. Only for a process without other work.
func bytesKept(by count: Int, _ call: () -> Void) -> Double {
    for _ in 0..<100 { call() }
    let before = heapInUse ?? 0
    for _ in 0..<count { call() }
    return Double((heapInUse ?? 0) - before) / Double(count)
}

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

/// How many bytes each of so many calls leaves behind, on the average. What is allocated once and for all, such as
/// metadata, was allocated by a few calls before. Only in a process in which nothing else happens.
func bytesKept(by count: Int, _ call: () -> Void) -> Double {
    for _ in 0..<100 { call() }
    let before = heapInUse ?? 0
    for _ in 0..<count { call() }
    return Double((heapInUse ?? 0) - before) / Double(count)
}

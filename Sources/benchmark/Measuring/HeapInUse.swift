import CAllocator

/// Bytes that the process has allocated and not freed, by the allocator's own count: unlike the resident size it
/// knows nothing of memory that is kept for later. Nil where the allocator does not tell.
var heapInUse: Int? {
    #if canImport(Glibc)
        let statistics = mallinfo2()
        return Int(statistics.uordblks) + Int(statistics.hblkhd)
    #else
        return nil
    #endif
}

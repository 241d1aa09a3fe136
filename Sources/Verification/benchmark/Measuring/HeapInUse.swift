import CTools

/// The number of bytes that the process has allocated and not freed, as counted by the allocator; nil if it is unknown.
/// Unlike the resident size, it excludes freed memory that the allocator keeps.
var heapInUse: Int? {
    #if canImport(Glibc)
        let statistics = mallinfo2()
        return Int(statistics.uordblks) + Int(statistics.hblkhd)
    #else
        return nil
    #endif
}

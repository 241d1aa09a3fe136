/// A fast buffer of bytes for a file. A recorder has only half a microsecond for each event.
struct TraceBytes: ~Copyable, @unchecked Sendable {
    // The value cannot be copied, so that it is the only owner of the memory.

    private var bytes: UnsafeMutablePointer<UInt8>
    private var capacity: Int
    private(set) var count = 0

    init(capacity: Int) {
        self.capacity = capacity
        bytes = .allocate(capacity: capacity)
    }

    deinit { bytes.deallocate() }

    mutating func removeAll() { count = 0 }

    func withBytes<Result, Failure>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeRawBufferPointer(start: bytes, count: count))
    }

    /// Reserves capacity for more bytes. The caller must reserve capacity before it adds bytes.
    mutating func reserve(_ additional: Int) {
        if count + additional <= capacity { return }
        capacity = max(2 * capacity, count + additional)
        let larger = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity)
        larger.update(from: bytes, count: count)
        bytes.deallocate()
        bytes = larger
    }

    @inline(__always)
    mutating func add(_ byte: UInt8) {
        bytes[count] = byte
        count += 1
    }

    @inline(__always)
    mutating func add(_ text: StaticString) {
        (bytes + count).update(from: text.utf8Start, count: text.utf8CodeUnitCount)
        count += text.utf8CodeUnitCount
    }

    mutating func add(_ number: Int) {
        if number < 0 { add(UInt8(ascii: "-")) }
        addDigits(number.magnitude)
    }

    /// Writes the digits of a number. Writes them into unused memory in reverse order, and then moves them.
    private mutating func addDigits(_ number: UInt) {
        var (place, rest) = (count + 32, number)
        repeat {
            let next = rest / 10
            place -= 1
            bytes[place] = UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: rest &- next &* 10)
            rest = next
        } while rest > 0
        let end = count &+ 32
        while place < end {
            bytes[count] = bytes[place]
            count &+= 1
            place &+= 1
        }
    }

    /// Appends a time as text, in microseconds with three decimals.
    mutating func addMicroseconds(_ nanoseconds: Int) {
        let whole = nanoseconds / 1000
        let rest = nanoseconds &- whole &* 1000
        add(whole)
        add(UInt8(ascii: "."))
        add(UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: rest / 100))
        add(UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: rest / 10 % 10))
        add(UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: rest % 10))
    }

    /// Appends text as a JSON string with quotation marks and escapes. Reserves the capacity that it needs.
    mutating func addQuoted(_ text: String) {
        var text = text
        text.withUTF8 { source in
            reserve(6 * source.count + 1024)
            add(UInt8(ascii: "\""))
            for byte in source {
                if byte >= 0x20 && byte != 0x22 && byte != 0x5C { add(byte) } else { addEscaped(byte) }
            }
            add(UInt8(ascii: "\""))
        }
    }

    private mutating func addEscaped(_ byte: UInt8) {
        if byte >= 0x20 {
            add(UInt8(ascii: "\\"))
            return add(byte)
        }
        add("\\u00")
        for digit in [byte >> 4, byte & 15] { add(digit < 10 ? 0x30 + digit : 0x57 + digit) }
    }
}

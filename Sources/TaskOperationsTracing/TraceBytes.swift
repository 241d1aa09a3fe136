/// A buffer of bytes for a file. The type is custom, because a recorder has only half a microsecond for each event.
struct TraceBytes: ~Copyable, @unchecked Sendable {
    // A single value owns the memory, and never shares it.

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

    /// Reserves capacity for more bytes. Bytes can be added without this call only within the reserved capacity.
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

    /// Writes the digits into unused memory, last digit first, and then moves them to their position.
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

    /// Adds a time in nanoseconds as microseconds with three decimals.
    mutating func addMicroseconds(_ nanoseconds: Int) {
        let whole = nanoseconds / 1000
        let rest = nanoseconds &- whole &* 1000
        add(whole)
        add(UInt8(ascii: "."))
        add(UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: rest / 100))
        add(UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: rest / 10 % 10))
        add(UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: rest % 10))
    }

    /// Adds text between quotation marks, with the escapes that JSON requires. Reserves the capacity itself.
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

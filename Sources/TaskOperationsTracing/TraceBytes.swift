// What lines of a trace are made of. Written by hand, as a recorder has half a microsecond for an event.

extension [UInt8] {
    mutating func add(_ text: StaticString) {
        append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    mutating func add(_ number: Int) {
        if number < 0 { append(UInt8(ascii: "-")) }
        addDigits(number.magnitude, atLeast: 1)
    }

    /// Nanoseconds, as microseconds with three decimals.
    mutating func addMicroseconds(_ nanoseconds: Int) {
        let (whole, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1000)
        add(whole)
        append(UInt8(ascii: "."))
        addDigits(UInt(rest), atLeast: 3)
    }

    private mutating func addDigits(_ number: UInt, atLeast count: Int) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { digits in
            var (rest, first) = (number, 20)
            repeat {
                first -= 1
                digits[first] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
                rest /= 10
            } while rest > 0 || 20 - first < count
            append(contentsOf: digits[first...])
        }
    }

    /// Text between quotation marks, with what JSON wants escaped.
    mutating func addQuoted(_ text: String) {
        append(UInt8(ascii: "\""))
        var text = text
        text.withUTF8 { bytes in
            if bytes.allSatisfy({ $0 >= 0x20 && $0 != 0x22 && $0 != 0x5C }) {
                append(contentsOf: bytes)
            } else {
                for byte in bytes { addEscaped(byte) }
            }
        }
        append(UInt8(ascii: "\""))
    }

    private mutating func addEscaped(_ byte: UInt8) {
        switch byte {
        case 0x22, 0x5C:
            append(0x5C)
            append(byte)
        case ..<0x20:
            add("\\u00")
            for digit in [byte >> 4, byte & 15] { append(digit < 10 ? 0x30 + digit : 0x57 + digit) }
        default: append(byte)
        }
    }
}

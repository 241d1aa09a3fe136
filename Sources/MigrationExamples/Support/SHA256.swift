/// The SHA-256 digest of FIPS 180-4, section 6.2, computed piece by piece.
///
/// The tour usually runs as a debug build, in which every call that is not inlined is expensive. For this reason, the
/// code uses unchecked shifts and loops without ranges.
public struct SHA256 {
    /// The hash value of the blocks so far; initially the words of section 5.3.3.
    private var state: [UInt32] = [
        0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19,
    ]
    /// The bytes that do not fill a block yet.
    private var rest: [UInt8] = []
    private var length: UInt64 = 0

    private static let blockSize = 64

    /// Creates the digest of an empty message.
    public init() {}

    /// Adds bytes.
    public mutating func update(_ bytes: [UInt8]) {
        length += UInt64(bytes.count)
        rest.isEmpty ? consume(bytes) : consume(rest + bytes)
    }

    /// Completes the message as specified in section 5.1.1: a one bit, zeros, and the length in bits. Returns the
    /// digest.
    public consuming func finalize() -> Digest {
        var padding: [UInt8] = [0x80]
        let used = (rest.count + 1 + 8) % Self.blockSize
        if used > 0 { padding += Array(repeating: 0, count: Self.blockSize - used) }
        withUnsafeBytes(of: (length &* 8).bigEndian) { padding += $0 }
        consume(rest + padding)
        return Digest(bytes: state.flatMap { word in withUnsafeBytes(of: word.bigEndian) { Array($0) } })
    }

    /// Returns the digest of an array of bytes.
    public static func digest(of bytes: [UInt8]) -> Digest {
        var hasher = SHA256()
        hasher.update(bytes)
        return hasher.finalize()
    }

    /// Processes all complete blocks, and keeps the remaining bytes.
    private mutating func consume(_ bytes: [UInt8]) {
        let end = bytes.count / Self.blockSize * Self.blockSize
        bytes.withUnsafeBytes { bytes in
            state.withUnsafeMutableBufferPointer { state in
                withUnsafeTemporaryAllocation(of: UInt32.self, capacity: 64) { schedule in
                    for start in stride(from: 0, to: end, by: Self.blockSize) {
                        Self.expand(bytes.baseAddress! + start, into: schedule.baseAddress!)
                        Self.compress(schedule.baseAddress!, into: state.baseAddress!)
                    }
                }
            }
        }
        rest = Array(bytes[end...])
    }

    /// Section 6.2.2, step 1: the message schedule of a block.
    private static func expand(_ block: UnsafeRawPointer, into w: UnsafeMutablePointer<UInt32>) {
        var t = 0
        while t < 16 {
            w[t] = UInt32(bigEndian: block.loadUnaligned(fromByteOffset: t &* 4, as: UInt32.self))
            t &+= 1
        }
        while t < 64 {
            let x = w[t &- 15]
            let y = w[t &- 2]
            let s0 = (x &>> 7 | x &<< 25) ^ (x &>> 18 | x &<< 14) ^ (x &>> 3)
            let s1 = (y &>> 17 | y &<< 15) ^ (y &>> 19 | y &<< 13) ^ (y &>> 10)
            w[t] = s1 &+ w[t &- 7] &+ s0 &+ w[t &- 16]
            t &+= 1
        }
    }

    /// Section 6.2.2, steps 2 to 4: the 64 rounds for a block. The names are those of the standard.
    private static func compress(_ w: UnsafeMutablePointer<UInt32>, into state: UnsafeMutablePointer<UInt32>) {
        var (a, b, c, d) = (state[0], state[1], state[2], state[3])
        var (e, f, g, h) = (state[4], state[5], state[6], state[7])
        roundConstants.withUnsafeBufferPointer { k in
            var t = 0
            while t < 64 {
                let sum1 = (e &>> 6 | e &<< 26) ^ (e &>> 11 | e &<< 21) ^ (e &>> 25 | e &<< 7)
                let t1 = h &+ sum1 &+ ((e & f) ^ (~e & g)) &+ k[t] &+ w[t]
                let sum0 = (a &>> 2 | a &<< 30) ^ (a &>> 13 | a &<< 19) ^ (a &>> 22 | a &<< 10)
                let t2 = sum0 &+ ((a & b) ^ (a & c) ^ (b & c))
                (h, g, f, e) = (g, f, e, d &+ t1)
                (d, c, b, a) = (c, b, a, t1 &+ t2)
                t &+= 1
            }
        }
        state[0] &+= a
        state[1] &+= b
        state[2] &+= c
        state[3] &+= d
        state[4] &+= e
        state[5] &+= f
        state[6] &+= g
        state[7] &+= h
    }

    /// The constants of section 4.2.2.
    private static let roundConstants: [UInt32] = [
        0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5, 0x3956_c25b, 0x59f1_11f1, 0x923f_82a4, 0xab1c_5ed5,
        0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3, 0x72be_5d74, 0x80de_b1fe, 0x9bdc_06a7, 0xc19b_f174,
        0xe49b_69c1, 0xefbe_4786, 0x0fc1_9dc6, 0x240c_a1cc, 0x2de9_2c6f, 0x4a74_84aa, 0x5cb0_a9dc, 0x76f9_88da,
        0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7, 0xc6e0_0bf3, 0xd5a7_9147, 0x06ca_6351, 0x1429_2967,
        0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc, 0x5338_0d13, 0x650a_7354, 0x766a_0abb, 0x81c2_c92e, 0x9272_2c85,
        0xa2bf_e8a1, 0xa81a_664b, 0xc24b_8b70, 0xc76c_51a3, 0xd192_e819, 0xd699_0624, 0xf40e_3585, 0x106a_a070,
        0x19a4_c116, 0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5, 0x391c_0cb3, 0x4ed8_aa4a, 0x5b9c_ca4f, 0x682e_6ff3,
        0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208, 0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7, 0xc671_78f2,
    ]
}

/// The 32 bytes of a digest. Its description is hexadecimal, as `sha256sum` prints it.
public struct Digest: Hashable, Sendable, CustomStringConvertible {
    let bytes: [UInt8]

    public var description: String {
        bytes.map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
    }
}

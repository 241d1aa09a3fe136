import MigrationExamplesSupport
import TestSupport
import Testing

@Suite("SHA-256", .inTurns)
struct SHA256Tests {
    @Test(
        "Gives the digests that FIPS 180-4 gives as examples",
        arguments: [
            ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
            ),
            (
                "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstn"
                    + "opqrstu",
                "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"
            ),
        ])
    func knownDigests(message: String, digest: String) {
        #expect(SHA256.digest(of: Array(message.utf8)).description == digest)
    }

    @Test("Gives the digest that NIST gives for a million times the letter a")
    func longMessage() {
        let message = [UInt8](repeating: UInt8(ascii: "a"), count: 1_000_000)
        let digest = "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"
        #expect(SHA256.digest(of: message).description == digest)
    }

    @Test("Does not care where the message is cut")
    func pieces() {
        let message = (0..<200).map { UInt8($0) }
        let whole = SHA256.digest(of: message)
        for size in 1...message.count {
            var hasher = SHA256()
            for start in stride(from: 0, to: message.count, by: size) {
                hasher.update(Array(message[start..<min(start + size, message.count)]))
            }
            #expect(hasher.finalize() == whole, "in pieces of \(size)")
        }
    }
}

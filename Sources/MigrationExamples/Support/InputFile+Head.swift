extension InputFile {
    /// Returns the digest of the first 4 KiB, which takes little time even for a large file.
    ///
    /// - Throws: `FileProblem` if the file cannot be read.
    public func headDigest() throws -> Digest {
        SHA256.digest(of: try contents(upTo: 4096))
    }
}

extension InputFile {
    /// The digest of the first 4 KiB: work that is soon done, however large the file is.
    ///
    /// - Throws: `FileProblem` if the file cannot be read.
    public func headDigest() throws -> Digest {
        SHA256.digest(of: try contents(upTo: 4096))
    }
}

// The parts that both sides of the recipe `tenants` share.

extension RecipeInput {
    /// The jobs of two tenants, which digest the beginnings of files. The noisy tenant has nine of ten jobs.
    public var jobs: [TenantJob] {
        sample.enumerated().map { TenantJob(tenant: $0 % 10 == 9 ? "quiet" : "noisy", file: $1) }
    }
}

/// A job that digests the beginning of a file.
public struct TenantJob: Sendable {
    /// The tenant that added the job.
    public let tenant: String
    /// The file to digest.
    public let file: InputFile

    /// Digests the file.
    ///
    /// - Throws: `FileProblem` if the file cannot be read.
    public func run() throws -> Digest { SHA256.digest(of: try file.contents(upTo: 64 * 1024)) }
}

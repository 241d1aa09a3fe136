import Foundation
import MigrationExamplesSupport
import TaskOperationsTesting

@testable import MigrationExamplesLegacy
@testable import MigrationExamplesPorted

/// A side of the recipes whose claims are tested.
enum Side: CaseIterable, Sendable {
    case legacy, ported
}

/// The common interface of the image downloaders of both sides.
protocol DownloaderUnderTest: Sendable {
    /// Requests a URL, and records the result under a name: the number of received bytes, or the error.
    @discardableResult
    func request(_ url: URL?, as name: String) async -> (any CancellableRequest)?
    func setSuspended(_ isSuspended: Bool)
    var answers: Recorder<Answer> { get }
    var runningCount: Int { get async }
}

/// The outcome of a request.
struct Answer: Hashable, Sendable {
    let name: String
    let outcome: String

    init(_ name: String, _ outcome: String) {
        self.name = name
        self.outcome = outcome
    }

    /// The outcome of a request: the number of bytes, or the error.
    init(_ name: String, _ result: Result<Int, any Error>) {
        switch result {
        case .success(let size): self.init(name, "\(size) bytes")
        case .failure(let error):
            self.init(name, (error as? URLError).map { "URL error \($0.errorCode)" } ?? "\(error)")
        }
    }
}

/// Cancels a request.
protocol CancellableRequest: Sendable {
    func cancel()
}

extension Side {
    func downloader(width: Int = 2) -> any DownloaderUnderTest {
        switch self {
        case .legacy: LegacyDownloader(width: width)
        case .ported: PortedDownloader(width: width)
        }
    }
}

private struct LegacyDownloader: DownloaderUnderTest {
    let answers = Recorder<Answer>()
    private let downloader: MigrationExamplesLegacy.ImageDownloader

    init(width: Int) {
        downloader = .init(width: width)
    }

    func request(_ url: URL?, as name: String) async -> (any CancellableRequest)? {
        downloader.download(url) { [answers] _, data, error, isFinished in
            if isFinished { answers.record(Answer(name, error.map { .failure($0) } ?? .success(data!.count))) }
        }
    }

    func setSuspended(_ isSuspended: Bool) { downloader.isSuspended = isSuspended }

    var runningCount: Int { downloader.runningCount }
}

// All stored properties are constant.
extension ImageDownloadToken: CancellableRequest, @unchecked Sendable {}

private struct PortedDownloader: DownloaderUnderTest {
    let answers = Recorder<Answer>()
    private let downloader: MigrationExamplesPorted.ImageDownloader

    init(width: Int) {
        downloader = .init(width: width)
    }

    func request(_ url: URL?, as name: String) async -> (any CancellableRequest)? {
        let request: ImageRequest<Void>
        do {
            request = try downloader.request(url) { [answers] image in
                answers.record(Answer(name, .success(image.data.count)))
            }
        } catch {
            answers.record(Answer(name, .failure(error)))
            return nil
        }
        Task { [answers] in
            // As on the legacy side, a cancelled request receives no answer.
            if case .failure(let error) = await request.result, !(error is CancellationError) {
                answers.record(Answer(name, .failure(error)))
            }
        }
        return request
    }

    func setSuspended(_ isSuspended: Bool) { downloader.isSuspended = isSuspended }

    var runningCount: Int { downloader.runningCount }
}

extension ImageRequest: CancellableRequest {}

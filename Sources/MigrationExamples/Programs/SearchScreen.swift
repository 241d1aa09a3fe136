import Observation
import TaskOperationsExtras

/// Searches as the user types. Only the newest text counts.
@MainActor @Observable
final class SearchScreen {
    private(set) var hits: [String] = []
    private(set) var failure: (any Error)?
    var isSearching: Bool { latest.isRunning }

    private let latest = LatestOperation(settling: .milliseconds(300))
    private let find: @Sendable (String) async throws -> [String]

    init(find: @escaping @Sendable (String) async throws -> [String]) {
        self.find = find
    }

    func textChanged(to text: String) {
        latest.start { [find] in
            try await find(text)
        } deliver: { [weak self] result in
            guard let self else { return }
            switch result {
            case .success(let hits): (self.hits, failure) = (hits, nil)
            case .failure(let error): failure = error
            }
        }
    }

    func returnPressed() { latest.flush() }
    func leave() { latest.cancel() }
}

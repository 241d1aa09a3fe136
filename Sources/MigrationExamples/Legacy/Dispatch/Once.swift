import Foundation
import MigrationExamplesSupport

extension Legacy {
    /// Asks from many threads for a value that is computed once.
    public static func once(_ input: RecipeInput) throws -> RecipeResult {
        // region: once
        let folder = Folder(files: input.files)
        DispatchQueue.concurrentPerform(iterations: 8) { _ in _ = folder.bytes }
        let (careless, haveLooked) = (CarelessFolder(), DispatchGroup())
        for _ in 1...2 { haveLooked.enter() }
        DispatchQueue.concurrentPerform(iterations: 2) { _ in
            careless.compute {
                haveLooked.leave()
                haveLooked.wait()  // the other thread looks: rare elsewhere, certain here
            }
        }
        return RecipeResult(
            "\(folder.bytes) bytes, computations: \(folder.computations), by hand: \(careless.computations)")
        // endregion
    }
}

// region: once-race
/// A typical singleton made by hand: two threads may read before either stores.
private final class CarelessFolder: @unchecked Sendable {
    private let lock = NSLock()
    private var isComputed = false
    private(set) var computations = 0

    func compute(meanwhile: () -> Void) {
        if lock.withLock({ isComputed }) { return }
        meanwhile()
        lock.withLock {
            isComputed = true
            computations += 1
        }
    }
}
// endregion

// region: once-folder
private final class Folder {
    private let files: [InputFile]
    private let lock = NSLock()
    private var cachedBytes: Int?
    private(set) var computations = 0

    init(files: [InputFile]) {
        self.files = files
    }

    /// The first thread computes it, and the others block meanwhile.
    var bytes: Int {
        lock.lock()
        defer { lock.unlock() }
        if let cachedBytes { return cachedBytes }
        let bytes = files.reduce(0) { $0 + $1.size }
        cachedBytes = bytes
        computations += 1
        return bytes
    }
}
// endregion

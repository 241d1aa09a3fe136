import Foundation
import MigrationExamplesSupport

/// The results of the readers, from any thread.
final class ImageGallery: @unchecked Sendable {
    private struct Place: Hashable {
        let file: InputFile
        let reader: String
    }

    private let lock = NSLock()
    private var results: [Place: Result<Picture, Error>] = [:]
    private var received: [Place: Int] = [:]
    private var orderOfReaders: [InputFile: [String]] = [:]
    private var unwanted = 0
    private var steps = true

    func note(_ bytes: Int, of expected: Int, for file: InputFile, _ reader: String) {
        lock.withLock {
            let place = Place(file: file, reader: reader)
            if bytes < received[place, default: 0] || bytes > expected { steps = false }
            received[place] = bytes
        }
    }

    func take(_ picture: Picture?, _ error: Error?, for file: InputFile, _ reader: String) {
        lock.withLock {
            results[Place(file: file, reader: reader)] = picture.map { .success($0) } ?? .failure(error!)
            orderOfReaders[file, default: []].append(reader)
        }
    }

    func takeUnwanted() {
        lock.withLock { unwanted += 1 }
    }

    func result(_ facts: [String]) -> RecipeResult {
        lock.withLock {
            var list = DigestList()
            for (place, result) in results where place.reader == "list" { list.add(place.file, result) }
            let isComplete = results.allSatisfy { place, result in
                guard case .success(let picture) = result else { return true }
                return received[place] == picture.size
            }
            let isInOrder = orderOfReaders.values.allSatisfy { $0 == ["list", "page"] }
            return list.result.adding(
                [
                    "\(results.count) answers", "\(unwanted) unwanted",
                    "progress \(isComplete && steps ? "complete" : "wrong")",
                    "answers \(isInOrder ? "in order" : "out of order")",
                ] + facts)
        }
    }
}

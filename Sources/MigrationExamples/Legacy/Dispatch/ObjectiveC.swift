import Foundation
import MigrationExamplesSupport

extension Legacy {
    /// Reads files by a class of Objective-C, which calls back.
    public static func objectiveC(_ input: RecipeInput) throws -> RecipeResult {
        // region: objective-c
        let reader = HeadReader()
        let sizes = Journal()
        let group = DispatchGroup()
        for file in input.files {
            group.enter()
            reader.readHead(of: file) { head, error in
                sizes.write("\(head?.count ?? 0)")
                group.leave()
            }
        }
        group.wait()
        return RecipeResult("\(sizes.lines.compactMap { Int($0) }.reduce(0, +)) bytes read")
        // endregion
    }
}

// region: objective-c-class
/// As the class above is imported into Swift.
private final class HeadReader: NSObject {
    private let queue = DispatchQueue(label: "HeadReader")

    func readHead(of file: InputFile, completion: @escaping (Data?, Error?) -> Void) {
        queue.async {
            do {
                completion(Data(try file.contents(upTo: 4096)), nil)
            } catch {
                completion(nil, error)
            }
        }
    }
}
// endregion

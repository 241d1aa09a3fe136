import MigrationExamplesSupport
import TaskOperations

/// The results of the readers.
actor ImageGallery {
    private var list = DigestList()
    private var orderOfReaders: [InputFile: [String]] = [:]
    private var answers = 0
    private var unwanted = 0
    private var isComplete = true

    func noteAnswer(for file: InputFile, _ reader: String) {
        orderOfReaders[file, default: []].append(reader)
    }

    func takeUnwanted() {
        unwanted += 1
    }

    func take(_ request: ImageRequest<Picture>, for file: InputFile, _ reader: String) async {
        var received = 0
        for await step in request.progress {
            let bytes = step.completedUnitCount ?? received
            if bytes < received || bytes > step.totalUnitCount ?? bytes { isComplete = false }
            received = bytes
        }
        let result = await request.result
        answers += 1
        if reader == "list" { list.add(file, result) }
        if case .success(let picture) = result, picture.size != received { isComplete = false }
    }

    func result(_ facts: [String]) -> RecipeResult {
        let isInOrder = orderOfReaders.values.allSatisfy { $0 == ["list", "page"] }
        return list.result.adding(
            [
                "\(answers) answers", "\(unwanted) unwanted", "progress \(isComplete ? "complete" : "wrong")",
                "answers \(isInOrder ? "in order" : "out of order")",
            ] + facts)
    }
}

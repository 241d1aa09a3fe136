// The cost of an operation as the amount of work grows. The cost is constant if the work is linear.

extension Case {
    static let growthOfIndependent = Case(
        "growth", variant: "independent", "as in independent", sizes: growingSizes, isLong: true,
        subjects: Submission<Empty>.subjects(
            [.taskOperationQueue, .operationQueue, .dispatchQueue, .task], width: 2))

    static let growthOfChain = Case(
        "growth", variant: "chain", "as in chain", sizes: growingSizes, isLong: true,
        subjects: [
            GraphSubjects.taskOperationQueue(Graph.chain),
            GraphSubjects.operationQueue(Graph.chain, isQuadratic: true),
            GraphSubjects.dispatchQueue(Graph.chain), GraphSubjects.task(Graph.chain),
        ])

    static let growthOfFanOut = Case(
        "growth", variant: "fan-out", "as in fan-out", sizes: growingSizes, isLong: true,
        subjects: [
            GraphSubjects.taskOperationQueue(Graph.fanOut),
            GraphSubjects.operationQueue(Graph.fanOut, isQuadratic: true),
            GraphSubjects.dispatchQueue(Graph.fanOut), GraphSubjects.task(Graph.fanOut),
        ])

    private static let growingSizes = [1000, 10_000, 100_000, 1_000_000]
}

import TaskOperationsTesting

@testable import TaskOperations

extension SeededGenerator {
    mutating func level() -> PriorityLevel {
        PriorityLevel.allCases[number(below: PriorityLevel.allCases.count)]
    }
}

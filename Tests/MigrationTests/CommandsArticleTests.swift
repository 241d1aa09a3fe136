import Foundation
import TestSupport
import Testing

@Suite("The article on commands", .inTurns)
struct CommandsArticleTests {
    @Test("Its table has every environment variable that the package reads")
    func environmentVariables() throws {
        let article = try MigrationDocument(MigrationDocument.article("Commands")).text
        let files = try ["Sources", "Tests", ".ci"].flatMap { folder in
            try FileManager.default.subpathsOfDirectory(atPath: MigrationDocument.package.appending(path: folder).path)
                .filter { $0.hasSuffix(".swift") || folder == ".ci" }.map { "\(folder)/\($0)" }
        }
        var variables: Set<String> = []
        for file in files + ["Package.swift"] {
            let text = try String(contentsOf: MigrationDocument.package.appending(path: file), encoding: .utf8)
            variables.formUnion(text.matches(of: #/environment\["([A-Z_]+)"\]/#).map { String($0.1) })
            variables.formUnion(text.matches(of: #/\$\{(TASK_OPERATIONS_[A-Z]+)/#).map { String($0.1) })
        }
        #expect(variables.count > 20)
        for variable in variables.sorted() {
            #expect(article.contains("`\(variable)`"), "\(variable) has no row")
        }
    }
}

import Foundation

/// The pages of the recipes, if they exist beside the sources that the audit was built from.
///
/// A recipe is named by its page, such as `Dispatch/concurrentPerform`, and by a heading if the page has several:
/// `TaskOperations.docc/Members#members-of-operation`.
enum GuideText {
    /// The folder of the package that the audit was built from.
    static let package = URL(filePath: #filePath).appending(path: "../../../../..").standardizedFileURL

    private static let recipes = "Sources/MigrationExamples/Recipes"

    /// The path of a recipe's page in the package, with `#` and the heading if the name has one.
    static func path(of recipe: String) -> String {
        let parts = recipe.split(separator: "#", maxSplits: 1)
        let file =
            if recipe.hasPrefix("TaskOperations.docc/") {
                "Sources/TaskOperations/\(parts[0]).md"
            } else if recipe.hasPrefix("Migration#") {
                "Migration.md"
            } else {
                "\(recipes)/\(parts[0]).md"
            }
        return parts.count == 2 ? "\(file)#\(parts[1])" : file
    }

    /// The path of the recipes' folder, for display; nil if it does not exist.
    static var folder: String? {
        let path = package.appending(path: recipes).path
        guard FileManager.default.fileExists(atPath: path) else { return nil }
        let current = FileManager.default.currentDirectoryPath + "/"
        return path.hasPrefix(current) ? String(path.dropFirst(current.count)) : path
    }

    /// The text of each of the recipes, without its heading, by their names.
    static func sections(_ recipes: Set<String>) -> [String: String] {
        Dictionary(
            uniqueKeysWithValues: recipes.compactMap { recipe in section(recipe).map { (recipe, $0) } })
    }

    private static func section(_ recipe: String) -> String? {
        let parts = path(of: recipe).split(separator: "#", maxSplits: 1)
        let file = package.appending(path: String(parts[0]))
        guard let text = try? String(contentsOf: file, encoding: .utf8) else { return nil }
        return section(of: text, parts.count == 2 ? String(parts[1]) : nil)
    }

    /// The text from a heading to the next one; without an anchor, the text below the first heading.
    static func section(of text: String, _ anchor: String?) -> String? {
        var lines: [Substring]?
        var isCode = false
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasPrefix("```") { isCode.toggle() }
            if !isCode, line.hasPrefix("#") {
                if lines != nil { break }
                if anchor == nil || Self.anchor(of: line) == anchor { lines = [] }
            } else if !line.hasPrefix("<!--") {
                lines?.append(line)
            }
        }
        return lines?.joined(separator: "\n")
    }

    /// The anchor of a heading: lower case, without punctuation, and with hyphens instead of spaces.
    static func anchor(of heading: Substring) -> String {
        let title = heading.drop { $0 == "#" || $0 == " " }.lowercased()
        return String(title.filter { $0.isLetter || $0.isNumber || " -_".contains($0) }.map { $0 == " " ? "-" : $0 })
    }
}

/// What the tour was asked to do.
package enum Arguments: Equatable {
    case help
    case list
    case run(folder: String?, recipes: [String], asJSON: Bool)

    /// How the tour is called.
    package static let usage = """
        usage: tour [FOLDER] [--json] [--recipe NAME]...
               tour --list

        Does each recipe of the guide twice over the files of FOLDER, once with Foundation and Dispatch and once
        with TaskOperations, and compares the results. FOLDER is the Sources of this package where none is given.
        Links to folders are not followed.

          --json         print a JSON array of objects instead of a table
          --recipe NAME  do this recipe only; may be given several times
          --list         print the names of the recipes
          --help         print this

        Exits with 0 where all agree, 1 where two sides differ, 2 on bad usage or an unreadable folder, and 130
        after Ctrl-C.
        """
}

/// Why arguments were not understood.
package struct UsageError: Error, Equatable, CustomStringConvertible {
    package let description: String
}

extension Arguments {
    /// Reads the arguments, without the name of the program.
    ///
    /// - Parameter known: The names of the recipes that there are.
    package init(parsing arguments: [String], known: [String]) throws(UsageError) {
        var folder: String?
        var recipes: [String] = []
        var asJSON = false
        var lists = false
        var rest = arguments[...]
        var optionsHaveEnded = false
        while let argument = rest.popFirst() {
            switch argument {
            case _ where optionsHaveEnded || !argument.hasPrefix("-"):
                if folder != nil { throw UsageError(description: "more than one folder: \(argument.debugDescription)") }
                folder = argument
            case "--": optionsHaveEnded = true
            case "--help", "-h":
                self = .help
                return
            case "--list": lists = true
            case "--json": asJSON = true
            case "--recipe":
                guard let name = rest.popFirst() else { throw UsageError(description: "--recipe needs a name") }
                recipes.append(try Self.check(name, isIn: known))
            case _ where argument.hasPrefix("--recipe="):
                recipes.append(try Self.check(String(argument.dropFirst("--recipe=".count)), isIn: known))
            default: throw UsageError(description: "unknown option \(argument.debugDescription)")
            }
        }
        if lists, folder != nil || asJSON || !recipes.isEmpty {
            throw UsageError(description: "--list stands alone")
        }
        self = lists ? .list : .run(folder: folder, recipes: recipes, asJSON: asJSON)
    }

    private static func check(_ name: String, isIn known: [String]) throws(UsageError) -> String {
        if known.contains(name) { return name }
        throw UsageError(description: "no recipe \(name.debugDescription); there are \(known.joined(separator: ", "))")
    }
}

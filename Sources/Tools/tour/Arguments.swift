/// The parsed arguments of the tour.
package enum Arguments: Equatable {
    case help
    case list
    case run(folder: String?, recipes: [String], asJSON: Bool, pictures: Pictures)
    /// The command `explain`: analyses a trace.
    case explain(trace: String)

    /// The files for the trace and the timeline of the ported sides.
    package struct Pictures: Equatable, Sendable {
        package var trace: String?
        package var timeline: String?

        package init(trace: String? = nil, timeline: String? = nil) {
            self.trace = trace
            self.timeline = timeline
        }
    }

    /// The usage of the command.
    package static let usage = """
        usage: tour [FOLDER] [--json] [--recipe NAME]... [--trace FILE] [--timeline FILE]
               tour explain FILE
               tour --list

        Runs each recipe of the guide twice on the files of FOLDER, once with Foundation and Dispatch and once with
        TaskOperations, and compares the results. The default FOLDER is the Sources folder of this package. Links to
        folders are not followed.

          --json         print a JSON array of objects instead of a table
          --recipe NAME  run only this recipe; may be given several times
          --trace FILE   write a trace of the ported sides, which ui.perfetto.dev opens
          --timeline FILE
                         draw the ported sides as an SVG picture
          --list         print the names of the recipes
          explain FILE   print the critical path and the longest waits of a trace
          --help         print this help

        Exits with 0 if all sides agree, 1 if two sides differ, 2 for wrong usage or an unreadable folder, and 130
        after Ctrl-C.
        """
}

/// The error for invalid arguments.
package struct UsageError: Error, Equatable, CustomStringConvertible {
    package let description: String
}

extension Arguments {
    /// Reads the arguments, which exclude the name of the program.
    ///
    /// - Parameter known: The names of the existing recipes.
    package init(parsing arguments: [String], known: [String]) throws(UsageError) {
        var folder: String?
        var recipes: [String] = []
        var asJSON = false
        var lists = false
        var pictures = Pictures()
        var rest = arguments[...]
        var optionsHaveEnded = false
        if rest.first == "explain" {
            self = try Self.explanation(rest.dropFirst())
            return
        }
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
            case "--trace": pictures.trace = try Self.file(&rest, of: argument)
            case "--timeline": pictures.timeline = try Self.file(&rest, of: argument)
            default: throw UsageError(description: "unknown option \(argument.debugDescription)")
            }
        }
        if lists, folder != nil || asJSON || !recipes.isEmpty || pictures != Pictures() {
            throw UsageError(description: "--list stands alone")
        }
        self = lists ? .list : .run(folder: folder, recipes: recipes, asJSON: asJSON, pictures: pictures)
    }

    private static func explanation(_ rest: ArraySlice<String>) throws(UsageError) -> Arguments {
        guard let file = rest.first, rest.count == 1 else { throw UsageError(description: "explain needs one file") }
        return .explain(trace: file)
    }

    private static func file(_ rest: inout ArraySlice<String>, of option: String) throws(UsageError) -> String {
        guard let file = rest.popFirst() else { throw UsageError(description: "\(option) needs a file") }
        return file
    }

    private static func check(_ name: String, isIn known: [String]) throws(UsageError) -> String {
        if known.contains(name) { return name }
        throw UsageError(description: "no recipe \(name.debugDescription); there are \(known.joined(separator: ", "))")
    }
}

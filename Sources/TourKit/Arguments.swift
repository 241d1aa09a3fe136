/// The parsed arguments of the tour.
package enum Arguments: Equatable {
    case help
    case list
    case run(folder: String?, recipes: [String], asJSON: Bool, pictures: Pictures)
    /// Explain a trace.
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

    /// How the tour is called.
    package static let usage = """
        usage: tour [FOLDER] [--json] [--recipe NAME]... [--trace FILE] [--timeline FILE]
               tour explain FILE
               tour --list

        Does each recipe of the guide twice over the files of FOLDER, once with Foundation and Dispatch and once
        with TaskOperations, and compares the results. FOLDER is the Sources of this package where none is given.
        Links to folders are not followed.

          --json         print a JSON array of objects instead of a table
          --recipe NAME  do this recipe only; may be given several times
          --trace FILE   write a trace of what the ported sides do, which ui.perfetto.dev opens
          --timeline FILE
                         draw it as an SVG picture
          --list         print the names of the recipes
          explain FILE   print what decided how long a trace is
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

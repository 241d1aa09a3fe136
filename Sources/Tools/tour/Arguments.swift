/// The parsed arguments of the tour.
package enum Arguments: Equatable {
    case help
    case list
    case run(folder: String?, recipes: [String], asJSON: Bool, pictures: Pictures)
    /// The command `explain`: analyses a trace.
    case explain(trace: String)
    /// The command `watch`: shows the queues of a process while it runs.
    ///
    /// - Parameters:
    ///   - html: The file for a page; nil for none. With a file, the command does not show the queues.
    ///   - perfetto: The file for a trace of Perfetto; nil for none.
    case watch(trace: String, once: Bool, html: String?, perfetto: String?)

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
               tour watch FILE [--once] [--html FILE] [--perfetto FILE]
               tour --list

        Runs each recipe of the guide twice on the files of FOLDER, once with Foundation and Dispatch and once with
        TaskOperations, and compares the results. The default FOLDER is the Sources folder of this package. Links to
        folders are not followed.

          --json         print a JSON array of objects instead of a table
          --recipe NAME  run only this recipe; may be given several times
          --trace FILE   record the ported sides in a file for explain and watch
          --timeline FILE
                         draw the ported sides: as an SVG picture, or as a page if FILE ends with .html
          --list         print the names of the recipes
          explain FILE   print what was unfinished, the critical path and the longest waits of a recording
          watch FILE     show the queues of a process, whose FlightRecorder writes to FILE; with --once as text, with
                         --html as a page, with --perfetto as a trace that ui.perfetto.dev opens
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
        if rest.first == "watch" {
            self = try Self.watch(rest.dropFirst())
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

    private static func watch(_ arguments: ArraySlice<String>) throws(UsageError) -> Arguments {
        var (rest, trace, once) = (arguments, String?.none, false)
        var (html, perfetto) = (String?.none, String?.none)
        while let argument = rest.popFirst() {
            switch argument {
            case "--once": once = true
            case "--html": html = try file(&rest, of: argument)
            case "--perfetto": perfetto = try file(&rest, of: argument)
            case _ where trace == nil && !argument.hasPrefix("-"): trace = argument
            default: throw UsageError(description: "watch needs one file, and no \(argument.debugDescription)")
            }
        }
        guard let trace else { throw UsageError(description: "watch needs one file") }
        return .watch(trace: trace, once: once, html: html, perfetto: perfetto)
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

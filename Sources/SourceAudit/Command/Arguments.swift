/// What the audit is asked to do.
struct Arguments: Equatable {
    enum Output: Equatable {
        case table, json, sarif
    }

    /// An argument that means nothing.
    struct Failure: Error, Equatable {
        let message: String
    }

    var paths: [String] = []
    var output = Output.table
    var html: String?
    var baseline: String?
    var mustBeDone = false
    var compared: (old: String, new: String)?
    var indexStores: [String] = []
    var indexLibrary: String?
    var usesIndex = true
    var isSummary = false
    /// nil: where a person looks.
    var isColored: Bool?
    var wantsHelp = false

    init(_ arguments: [String]) throws {
        var rest = arguments[...]
        func value(of option: String) throws -> String {
            // An option is no value: a file that is called as one is given as `./--name`.
            guard let value = rest.first, !value.hasPrefix("-") else {
                throw Failure(message: "\(option) needs a value")
            }
            rest.removeFirst()
            return value
        }
        var isOver = false
        while let argument = rest.popFirst() {
            if isOver || !argument.hasPrefix("-") || argument == "-" {
                paths.append(argument)
                continue
            }
            switch argument {
            case "--": isOver = true
            case "--json": output = .json
            case "--sarif": output = .sarif
            case "--html": html = try value(of: argument)
            case "--baseline": baseline = try value(of: argument)
            case "--done": mustBeDone = true
            case "--compare": compared = (try value(of: argument), try value(of: argument))
            case "--index-store": indexStores.append(try value(of: argument))
            case "--index-library": indexLibrary = try value(of: argument)
            case "--no-index": usesIndex = false
            case "--summary": isSummary = true
            case "--color": isColored = true
            case "--no-color": isColored = false
            case "-h", "--help": wantsHelp = true
            default: throw Failure(message: "unknown option \(argument)")
            }
        }
        if paths.isEmpty { paths = ["."] }
    }

    static func == (one: Arguments, other: Arguments) -> Bool {
        one.paths == other.paths && one.output == other.output && one.html == other.html
            && one.baseline == other.baseline && one.mustBeDone == other.mustBeDone
            && one.compared?.old == other.compared?.old && one.compared?.new == other.compared?.new
            && one.indexStores == other.indexStores && one.indexLibrary == other.indexLibrary
            && one.usesIndex == other.usesIndex && one.isSummary == other.isSummary
            && one.isColored == other.isColored && one.wantsHelp == other.wantsHelp
    }

    static let help = """
        usage: audit [PATH…] [options]
               audit --compare OLD.json NEW.json

        Reads the Swift and Objective-C sources below the paths (the current folder, if there are none), and says what
        there is to move to TaskOperations, by which recipe, and in what order.

          --json                  writes the report as JSON (Documentation/Audit.md has its schema)
          --sarif                 writes it as SARIF 2.1.0, for code-scanning sites and editors
          --html FILE             writes one page to FILE, besides
          --summary               the summary and the first wave only
          --baseline FILE         fails only if there is something that FILE, an earlier --json, does not have
          --done                  fails if anything is left but what comments allow: // audit:allow(pattern) reason
          --compare OLD NEW       what has gone and come between two --json reports
          --index-store PATH      an index store of the compiler's (found in .build without this; Xcode's is in its
                                  DerivedData, at Index.noindex/DataStore); can stand more than once
          --index-library PATH    libIndexStore (that of the toolchain without this)
          --no-index              names alone
          --color, --no-color     colours or none (colours in a terminal without this)

        exit status: 0 if all is well, 1 if --done or --baseline found something, 2 for a wrong option, 3 if a path or
        a file could not be read, or a file or the output could not be written
        """
}

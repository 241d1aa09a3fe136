import Foundation
import SourceAudit

@main
struct Audit {
    static func main() {
        let command = AuditCommand(
            isTerminal: isatty(STDOUT_FILENO) == 1 && ProcessInfo.processInfo.environment["NO_COLOR"] == nil,
            showsProgress: isatty(STDERR_FILENO) == 1,
            write: { FileHandle.standardOutput.write(Data($0.utf8)) },
            writeError: { FileHandle.standardError.write(Data($0.utf8)) })
        exit(command.run(Array(CommandLine.arguments.dropFirst())).rawValue)
    }
}

import Foundation

/// The machine of the measurements.
enum Machine {
    static var description: String {
        let information = ProcessInfo.processInfo
        let memory = (Double(information.physicalMemory) / Double(1 << 30)).rounded(to: 0)
        let cores = information.activeProcessorCount
        return [
            processor, "\(cores) core\(cores == 1 ? "" : "s")", "\(memory) GiB",
            information.operatingSystemVersionString, compiler,
        ]
        .compactMap(\.self).joined(separator: ", ")
    }

    /// The name of the processor; nil if the system does not provide it.
    private static var processor: String? {
        let lines = (try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8))?.split(separator: "\n") ?? []
        let name = lines.first { $0.hasPrefix("model name") }?.split(separator: ":").last
        return name.map { $0.trimmingCharacters(in: .whitespaces) }
    }

    private static var compiler: String {
        #if compiler(>=6.4)
            let version = "Swift 6.4 or newer"
        #elseif compiler(>=6.3)
            let version = "Swift 6.3"
        #else
            let version = "Swift 6.2"
        #endif
        #if DEBUG
            return version + ", debug build"
        #else
            return version + ", release build"
        #endif
    }
}

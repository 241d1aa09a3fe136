/// Every case. To add a case, add an entry here.
enum Catalogue {
    static let cases: [Case] = [
        .independent,
        .independentBatch,
        .adding,
        .serial,
        .contendedAdd,
        .suspending(width: 2),
        .suspending(width: 64),
        .io,
        .scopeOfOne,
        .scopeOfMany,
        .chain,
        .fanOut,
        .fanIn,
        .layers,
        .randomDAG,
        .after,
        .pendingMemory,
        .delayed,
        .cancelAll,
        .priorityChange,
        .widthChange,
        .suspendResume,
        .growthOfIndependent,
        .growthOfChain,
        .growthOfFanOut,
        .semaphoreServed,
        .semaphorePrioritised,
        .semaphoreCancelled,
        .keyedBurst,
        .keyedCallers,
        .newestFirst,
        .boundedAdd,
        .sharedLimit,
        .startRate,
        .options,
        .lending,
        .latency("median", 0.5),
        .latency("99th percentile", 0.99),
        .rareLatency,
        .latencyUnderLoad(busyThreads: 2),
        .latencyUnderLoad(busyThreads: 8),
        .latencyUnderLoad(busyThreads: 32),
        .bridgedDependency,
        .bridgedRun,
        .bridgedAdding,
        .observed,
        .fibonacci,
        .skynet,
        .queens,
        .product,
        .audit,
    ]

    /// The cases that are measured by default.
    static let quickCases = cases.filter { !$0.isLong }

    /// The names that `--case` accepts, in order.
    static let names = cases.reduce(into: [String]()) { names, item in
        if !names.contains(item.name) { names.append(item.name) }
    }

    /// The text that lists the cases, one line each.
    static var listing: String {
        let width = cases.map(\.title.count).max() ?? 0
        return cases.map { item in
            let sizes = item.sizes.map(\.grouped).joined(separator: " / ")
            return "\(item.title.padded(to: width))  \(item.summary) (\(sizes))\(item.isLong ? ", with --all" : "")"
        }
        .joined(separator: "\n")
    }
}

/// A provider that counts the costs and the starts of each account, and refuses a request that would exceed one of its
/// counts in any period that ends with the request.
///
/// No provider is stricter: one that counts from fixed moments, or fills a bucket of the whole count, accepts all
/// requests that this one accepts.
struct SimulatedProvider {
    struct Window: Sendable {
        let count: Int
        /// In milliseconds.
        let period: Int
        let countsStarts: Bool
    }

    /// The accepted requests of one account in one period.
    private struct Log {
        private var entries: [(time: Int, amount: Int)] = []
        private var first = 0
        private(set) var sum = 0

        mutating func forget(upTo time: Int) {
            while first < entries.count, entries[first].time <= time {
                sum -= entries[first].amount
                first += 1
            }
            if first > 4096, first * 2 > entries.count {
                entries.removeFirst(first)
                first = 0
            }
        }

        mutating func append(_ amount: Int, at time: Int) {
            entries.append((time, amount))
            sum += amount
        }

        /// The time of the oldest request.
        var oldest: Int? { first < entries.count ? entries[first].time : nil }
    }

    private let windows: [Window]
    private var logs: [[Log]]

    init(_ windows: [Window], accounts: Int) {
        self.windows = windows
        logs = Array(repeating: windows.map { _ in Log() }, count: accounts)
    }

    /// Returns nil if the request is accepted; otherwise the time in milliseconds after which to try again, which consists
    /// of whole seconds like that of `Retry-After`.
    mutating func refusal(of cost: Int, from account: Int, at time: Int) -> Int? {
        for index in windows.indices {
            let window = windows[index]
            logs[account][index].forget(upTo: time - window.period)
            if logs[account][index].sum + amount(of: cost, window) > window.count {
                let wait = logs[account][index].oldest.map { $0 + window.period - time } ?? window.period
                return (wait + 999) / 1000 * 1000
            }
        }
        for index in windows.indices { logs[account][index].append(amount(of: cost, windows[index]), at: time) }
        return nil
    }

    private func amount(of cost: Int, _ window: Window) -> Int { window.countsStarts ? 1 : cost }
}

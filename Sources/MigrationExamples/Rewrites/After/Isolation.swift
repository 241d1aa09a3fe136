import Foundation

@MainActor
public final class Ticker {
    public private(set) var count = 0
    public private(set) var isReady = false
    private let queue = DispatchQueue(label: "ticker")
    private var timer: (any DispatchSourceTimer)?

    public init() {}

    public func start() {
        let timer = DispatchSource.makeTimerSource(queue: queue)
        timer.setEventHandler { @Sendable [weak self] in
            Task { @MainActor in self?.tick() }
        }
        timer.schedule(deadline: .now(), repeating: .milliseconds(1))
        self.timer = timer
        timer.resume()
    }

    public func prepare() async {
        let group = DispatchGroup()
        await withCheckedContinuation { continuation in
            group.notify(queue: queue) { @Sendable in
                continuation.resume()
            }
        }
        queue.async(execute: DispatchWorkItem { @Sendable in DispatchQueue.main.async { self.isReady = true } })
    }

    private func tick() {
        count += 1
        if count == 3 { timer?.cancel() }
    }
}

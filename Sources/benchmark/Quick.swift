import Dispatch
import Foundation
import TaskOperations

let n = CommandLine.arguments.count > 2 ? Int(CommandLine.arguments[2])! : 100_000
let clock = ContinuousClock()
func ns(_ d: Duration, _ n: Int) -> Double {
    (Double(d.components.seconds) * 1e9 + Double(d.components.attoseconds) / 1e9) / Double(n)
}
func time(_ label: String, _ n: Int = n, _ rounds: Int = 7, _ f: () async throws -> Void) async rethrows {
    var t: [Double] = []
    for _ in 0..<rounds { let d = try await clock.measure { try await f() }; t.append(ns(d, n)) }
    t.sort(); print(label, t.map { Int($0) })
}
@main struct M {
    static func main() {
        let s = DispatchSemaphore(value: 0)
        Task.detached {
            try! await run(); s.signal()
        }
        s.wait()
    }
    nonisolated static func run() async throws {
        let only = CommandLine.arguments.count > 1 ? CommandLine.arguments[1] : ""
        for _ in 0..<2 {
            if only.isEmpty {
                await time("Dispatch") {
                    await withCheckedContinuation { c in
                        let q = DispatchQueue(label: "x", attributes: .concurrent); let g = DispatchGroup();
                        for _ in 0..<n { q.async(group: g) { @Sendable in } };
                        g.notify(queue: q) { @Sendable in c.resume() }
                    }
                }
            }
            if only == "c" {
                for _ in 0..<3 {
                    let q = TaskOperationQueue(maxConcurrentOperationCount: 1, isSuspended: true);
                    for _ in 0..<n { q.addOperation {} }; q.isSuspended = false;
                    try await q.waitUntilAllOperationsAreFinished()
                }; exit(0)
            }
            if only == "d" {
                for _ in 0..<10 {
                    let q = TaskOperationQueue(maxConcurrentOperationCount: 1, isSuspended: true)
                    for _ in 0..<n { q.addOperation {} }
                    let b = try await clock.measure {
                        q.isSuspended = false; try await q.waitUntilAllOperationsAreFinished()
                    }
                    print("drain", Int(ns(b, n)))
                }; exit(0)
            }
            try await time("independent") {
                let q = TaskOperationQueue(maxConcurrentOperationCount: 2); for _ in 0..<n { q.addOperation {} };
                try await q.waitUntilAllOperationsAreFinished()
            }
            if only == "i" { continue }
            if only == "p" {
                for w in [1, 2] {
                    for _ in 0..<3 {
                        let q = TaskOperationQueue(maxConcurrentOperationCount: w, isSuspended: true)
                        let a = clock.measure { for _ in 0..<n { q.addOperation {} } }
                        let b = try await clock.measure {
                            q.isSuspended = false; try await q.waitUntilAllOperationsAreFinished()
                        }
                        let ops = (0..<n).map { _ in 0 }; var keep: [AnyTaskOperation] = []; keep.reserveCapacity(n)
                        let c = clock.measure { for _ in ops { keep.append(TaskOperation {}) } }
                        let e = clock.measure { keep.removeAll() }
                        print(
                            w, "add", Int(ns(a, n)), "drain", Int(ns(b, n)), "make", Int(ns(c, n)), "free",
                            Int(ns(e, n)))
                    }
                }
                continue
            }
            try await time("batch") {
                let q = TaskOperationQueue(maxConcurrentOperationCount: 2);
                try q.addOperations((0..<n).map { _ in TaskOperation {} });
                try await q.waitUntilAllOperationsAreFinished()
            }
            if only == "b" { continue }
            for m in [10_000, 1_000_000] {
                try await time("chain \(m)", m, m > 10_000 ? 3 : 7) {
                    let q = TaskOperationQueue(maxConcurrentOperationCount: 2); var last = q.addOperation {};
                    for _ in 1..<m { last = q.addOperation(dependencies: [last]) {} };
                    try await q.waitUntilAllOperationsAreFinished()
                }
            }
            try await time("fanout") {
                let q = TaskOperationQueue(maxConcurrentOperationCount: 2); let last = q.addOperation {};
                for _ in 1..<n { q.addOperation(dependencies: [last]) {} };
                try await q.waitUntilAllOperationsAreFinished()
            }
            try await time("yielding w64") {
                let q = TaskOperationQueue(maxConcurrentOperationCount: 64);
                for _ in 1..<n { q.addOperation { await Task.yield() } };
                try await q.waitUntilAllOperationsAreFinished()
            }
            try await time("sem group") {
                let s = AsyncSemaphore(capacity: 64);
                try await withThrowingTaskGroup { g in
                    for _ in 1..<n { g.addTask { try await s.withPermit { await Task.yield() } } };
                    try await g.waitForAll()
                }
            }
            try await time("1M", 1_000_000, 3) {
                let q = TaskOperationQueue(maxConcurrentOperationCount: 2);
                for _ in 0..<1_000_000 { q.addOperation {} }; try await q.waitUntilAllOperationsAreFinished()
            }
            if only.isEmpty {
                let oq = OperationQueue(); oq.maxConcurrentOperationCount = 2
                await time("OperationQueue") {
                    await withCheckedContinuation { c in
                        for _ in 0..<n { oq.addOperation { @Sendable in } };
                        oq.addBarrierBlock { @Sendable in c.resume() }
                    }
                }
            }
        }
        func rss() -> Int {
            let s = try! String(contentsOfFile: "/proc/self/statm", encoding: .utf8);
            return Int(s.split(separator: " ")[1])! * 4096
        }
        let q = TaskOperationQueue(isSuspended: true); let before = rss(); for _ in 0..<1_000_000 { q.addOperation {} };
        print("bytes", Double(rss() - before) / 1e6)
        q.cancelAllOperations()
    }
}

import Foundation
import MigrationExamplesSupport
import TaskOperations
import TaskOperationsTesting
import TestSupport
import Testing

@testable import MigrationExamplesLegacy
@testable import MigrationExamplesPorted

@Suite("The tenants, on both sides", .inTurns, .endsInTime)
struct TenantsTests {
    /// The tenants of jobs, in the order of their addition.
    private static func names(_ jobs: KeyValuePairs<String, Int>) -> [String] {
        jobs.flatMap { Array(repeating: $0, count: $1) }
    }

    /// The order in which one worker of the port runs jobs. A first job holds the worker until all are added, except the
    /// late ones, which the tenth job adds.
    private func portedOrder(
        _ jobs: [String], late: [String] = [], shares: [String: Int] = [:]
    ) async throws -> [String] {
        let queue = TaskOperationQueue()
        let tenants = MigrationExamplesPorted.TenantQueue(on: queue, workers: 1)
        let (gate, order, added) = (Gate(), Recorder<String>(), Recorder<TaskOperation<Void>>())
        for (tenant, share) in shares { tenants.setShare(share, for: tenant) }
        added.record(tenants.add(for: "first") { await gate.pass() })
        await gate.waitForArrivals(1)
        @Sendable func add(_ tenant: String) {
            added.record(
                tenants.add(for: tenant) {
                    order.record(tenant)
                    if order.events.count == 10 { for tenant in late { add(tenant) } }
                })
        }
        for tenant in jobs { add(tenant) }
        gate.open()
        for _ in 0..<10_000 where order.events.count < jobs.count + late.count { await Task.yield() }
        for operation in added.events { try await operation.value }
        return order.events
    }

    /// The order in which one worker of the old code runs jobs. See `portedOrder`.
    private func legacyOrder(_ jobs: [String], late: [String] = [], shares: [String: Double] = [:]) -> [String] {
        let (tenants, gate, order) = (
            MigrationExamplesLegacy.TenantQueue(workers: 1), DispatchSemaphore(value: 0), Recorder<String>()
        )
        for (tenant, share) in shares { tenants.setShare(share, for: tenant) }
        tenants.add(for: "first") { gate.wait() }
        func add(_ tenant: String) {
            tenants.add(for: tenant) {
                order.record(tenant)
                if order.events.count == 10 { for tenant in late { add(tenant) } }
            }
        }
        for tenant in jobs { add(tenant) }
        gate.signal()
        tenants.waitUntilFinished()
        return order.events
    }

    @Test("Jobs of a quiet tenant wait for at most one job of a noisy tenant each", .schedules(20))
    func quietTenant() async throws {
        let jobs = Self.names(["noisy": 60, "quiet": 4])
        for order in try await [legacyOrder(jobs), portedOrder(jobs)] {
            #expect(order.count == 64)
            #expect(order.prefix(8).count { $0 == "quiet" } == 4, "\(order.prefix(12))")
        }
    }

    @Test("A tenant with a share of 3 has three jobs for each job of another tenant", .schedules(20))
    func shares() async throws {
        let jobs = Self.names(["basic": 20, "gold": 60])
        for order in try await [
            legacyOrder(jobs, shares: ["gold": 3]), portedOrder(jobs, shares: ["gold": 3]),
        ] {
            for end in stride(from: 4, through: 80, by: 4) {
                let gold = order.prefix(end).count { $0 == "gold" }
                #expect(abs(gold - 3 * end / 4) <= 1, "\(order.prefix(end))")
            }
        }
    }

    @Test("A tenant that had no jobs saved up no turns", .schedules(20))
    func newcomer() async throws {
        let (jobs, late) = (Self.names(["noisy": 40]), Self.names(["late": 10]))
        for order in try await [legacyOrder(jobs, late: late), portedOrder(jobs, late: late)] {
            let shared = order.dropFirst(10).prefix(20)
            for end in stride(from: 2, through: 20, by: 2) {
                #expect(abs(shared.prefix(end).count { $0 == "late" } - end / 2) <= 1, "\(shared)")
            }
        }
    }

    @Test(
        "Eight workers run eight jobs at once, and each second job that starts is of the quiet tenant", .schedules(20))
    func eightWorkers() async throws {
        let tenants = MigrationExamplesPorted.TenantQueue(on: TaskOperationQueue())
        let (meter, order) = (ConcurrencyMeter(), Recorder<(tenant: String, gate: Gate)>())
        let operations = Self.names(["noisy": 60, "quiet": 10]).map { tenant in
            tenants.add(for: tenant) {
                let gate = Gate()
                await meter.measure {
                    order.record((tenant, gate))
                    await gate.pass()
                }
            }
        }
        for ended in 0..<operations.count {
            let started = min(ended + 8, operations.count)
            for _ in 0..<200 { await Task.yield() }
            try #require(order.events.count == started && meter.now == started - ended)
            order.events[ended].gate.open()
        }
        for operation in operations { try await operation.value }
        #expect(meter.most == 8 && meter.total == 70)
        #expect(order.events[8..<28].count { $0.tenant == "quiet" } == 10)
    }

    @Test("A cancellation of the old code drops the jobs that have not started")
    func legacyCancellation() {
        let (tenants, gate, order) = (
            MigrationExamplesLegacy.TenantQueue(workers: 1), DispatchSemaphore(value: 0), Recorder<String>()
        )
        tenants.add(for: "a") {
            gate.wait()
            order.record("a")
        }
        tenants.add(for: "b") { order.record("b") }
        tenants.cancel()
        gate.signal()
        tenants.waitUntilFinished()
        #expect(order.events == ["a"])
    }
}

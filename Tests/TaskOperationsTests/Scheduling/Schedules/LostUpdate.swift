import TaskOperationsTesting

struct Fault: Error {}

actor Counter {
    private(set) var value = 0

    /// Reads the value before a suspension, and uses it afterwards.
    func add(_ fee: Fee) async {
        let old = value
        let amount = await fee.amount()
        value = old + amount
    }

    func increment() { value += 1 }
}

actor Fee {
    func amount() -> Int { 1 }
}

/// Loses an update if one task runs between the read and the write of the other.
@Sendable func loseUpdate() async throws {
    let (counter, fee) = (Counter(), Fee())
    let other = Task(name: "other") { await counter.add(fee) }
    await counter.add(fee)
    await other.value
    if await counter.value != 2 { throw Fault() }
}

/// The failure that an exploration finds; nil if it finds none.
func failure(of schedules: Schedules, _ body: @escaping @Sendable () async throws -> Void) -> ScheduleFailure? {
    do {
        try schedules.run(body)
        return nil
    } catch {
        return error as? ScheduleFailure
    }
}

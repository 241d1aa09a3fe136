/// A lock, an atomic variable or a condition: an object that threads share, and at which a thread may be interrupted.
public class SharedObject: @unchecked Sendable {
    // Only the thread that has the turn changes an object of a schedule. Outside of explorations, objects are made and
    // released by one thread at a time.

    let kind: StaticString
    let file: StaticString
    let line: UInt
    /// The schedule that used the object last, and its number in that.
    private var schedule = 0
    private var numberInSchedule = 0
    /// The thread that holds the lock; nil for an object that is no lock.
    var owner: ControlledThread?
    /// The view that the next thread obtains by taking the lock.
    var view = View()

    init(kind: StaticString, file: StaticString, line: UInt) {
        self.kind = kind
        self.file = file
        self.line = line
    }

    /// The number of the object, in the order of first use in the current schedule.
    func number(in turnstile: Turnstile) -> Int {
        if schedule != turnstile.identity {
            schedule = turnstile.identity
            numberInSchedule = turnstile.objectCount
            turnstile.objectCount += 1
            view = View()
            begin(turnstile)
        }
        return numberInSchedule
    }

    /// A schedule uses the object for the first time.
    func begin(_ turnstile: Turnstile) {}

    /// The kind of the object, its number in the schedule, and where it was made.
    func name(in turnstile: Turnstile) -> String {
        "\(kind) \(number(in: turnstile)) (\(String(describing: file).split(separator: "/").last ?? ""):\(line))"
    }
}

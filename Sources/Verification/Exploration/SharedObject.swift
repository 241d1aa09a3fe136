/// An object that threads share and at which a thread may be interrupted: a lock, an atomic variable or a condition.
public class SharedObject: @unchecked Sendable {
    // During a schedule, only the thread that has the turn changes an object. Outside of explorations, one thread at a
    // time creates and releases objects.

    let kind: StaticString
    let file: StaticString
    let line: UInt
    /// The last schedule that used the object. `number` is the object's number in that schedule.
    private var schedule = 0
    private var numberInSchedule = 0
    /// The thread that holds the lock; nil if the object is not a lock.
    var owner: ControlledThread?
    /// The view that the next thread obtains when it takes the lock.
    var view = View()

    init(kind: StaticString, file: StaticString, line: UInt) {
        self.kind = kind
        self.file = file
        self.line = line
    }

    /// The number of the object, in the order of the first uses in the current schedule.
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

    /// Called when a schedule first uses the object.
    func begin(_ turnstile: Turnstile) {}

    /// The kind of the object, its number in the schedule, and the place of its creation.
    func name(in turnstile: Turnstile) -> String {
        "\(kind) \(number(in: turnstile)) (\(String(describing: file).split(separator: "/").last ?? ""):\(line))"
    }
}

import Synchronization

/// The operations of a queue that start next, for its workers to take without entering the scheduler.
///
/// The scheduler offers a run of them when it is left, and closes the run first of all when it is entered; unless that is
/// for a worker that had to wait for another one to leave, and finds something offered now. In between, a worker whose
/// operation has ended takes the first offer that nobody has taken, and leaves in its place which operation has ended.
/// So offers are taken strictly in order, none can be once the first of them is closed, and what happened is what would
/// have happened had each worker entered: that one ended, this one started. The scheduler
/// catches up on it before it does anything else.
///
/// It is there because two workers that enter for every operation take as long as one: draining 100,000 empty ones at
/// a width of 2 took 410 to 450 ns each, and takes 275 (medians of 20, three runs in turn, the machine of the README).
struct ReadyRing: ~Copyable, @unchecked Sendable {
    // All that threads share is atomic. The state keeps an operation that is offered, and one that was taken until
    // whoever took it says that it has ended.

    /// How much can be offered at once.
    static let capacity = 64

    private struct Offer: ~Copyable {
        // At first no number's: offers are numbered from 1.
        let word = Atomic(OfferWord(number: .max, slot: 0, isTaken: false).bits)
        let operation = Atomic<UnsafeMutableRawPointer?>(nil)
    }

    /// A ring: an offer has the place of its number. Made with the first run, as many queues never have one, before
    /// `header` says that there is one.
    private let offers = Atomic<UnsafeMutablePointer<Offer>?>(nil)
    private let header = Atomic(RingHeader.closed.bits)

    deinit {
        guard let offers = offers.load(ordering: .relaxed) else { return }
        offers.deinitialize(count: Self.capacity)
        offers.deallocate()
    }

    private func offer(_ number: UInt32) -> UnsafeMutablePointer<Offer> {
        offers.load(ordering: .relaxed)! + Int(number % UInt32(Self.capacity))
    }
}

/// What an offer says: which slot it offers, or, once it is taken, which slot's operation had ended.
private struct OfferWord {
    let bits: UInt64

    private static let takenBit: UInt64 = 1 << 31

    init(bits: UInt64) { self.bits = bits }

    init(number: UInt32, slot: Int, isTaken: Bool) {
        bits = UInt64(number) << 32 | (isTaken ? Self.takenBit : 0) | UInt64(slot)
    }

    var number: UInt32 { UInt32(bits >> 32) }
    var isTaken: Bool { bits & Self.takenBit != 0 }
    var slot: Int { Int(bits & (Self.takenBit - 1)) }
}

/// What all workers have to know of a run: its level, where it begins, and when to offer more.
private struct RingHeader {
    let bits: UInt64

    static let closed = RingHeader(bits: 0)

    init(bits: UInt64) { self.bits = bits }

    init(level: PriorityLevel, first: UInt32, halfCount: Int) {
        bits = UInt64(first) << 32 | UInt64(halfCount) << 8 | UInt64(level.rawValue + 1)
    }

    func isOpen(at level: PriorityLevel) -> Bool { UInt8(truncatingIfNeeded: bits) == level.rawValue + 1 }

    /// The number of the first offer that the scheduler had not seen taken.
    var first: UInt32 { UInt32(bits >> 32) }

    /// How many are taken from that one on when it is time to offer more.
    var halfCount: UInt32 { UInt32(bits >> 8 & 0xff) }
}

// MARK: - Taking

extension ReadyRing {
    /// An operation that a worker took: it has to start now.
    struct Taken {
        let operation: AnyTaskOperation
        let slot: Int
        /// Whether whoever took it is the one who asks the scheduler for more.
        let isHalfway: Bool
    }

    /// Up to where a worker knows that all is taken. It costs a tenth to look at all of that for every operation.
    struct Position: Sendable {
        fileprivate var header: UInt64 = 0
        fileprivate var number: UInt32 = 0
    }

    /// Whether a run is open for a level at this moment.
    func isOpen(at level: PriorityLevel) -> Bool { RingHeader(bits: header.load(ordering: .relaxed)).isOpen(at: level) }

    /// Takes the first offer that is left, in place of an operation that has ended; nil if no run is open for the
    /// level, or nothing is left of it.
    func take(inPlaceOf ended: Int, level: PriorityLevel, from position: inout Position) -> Taken? {
        let header = RingHeader(bits: header.load(ordering: .acquiring))
        guard header.isOpen(at: level) else { return nil }
        if position.header != header.bits { position = Position(header: header.bits, number: header.first) }
        while true {
            let number = position.number
            let offer = offer(number)
            let word = OfferWord(bits: offer.pointee.word.load(ordering: .acquiring))
            guard word.number == number else { return nil }
            if word.isTaken {
                position.number &+= 1
            } else if let operation = take(offer, word, inPlaceOf: ended) {
                let isHalfway = number &- header.first == header.halfCount
                return Taken(operation: operation, slot: word.slot, isHalfway: isHalfway)
            }
        }
    }

    /// Returns nil if another worker, or the scheduler, was faster.
    private func take(
        _ offer: UnsafeMutablePointer<Offer>, _ word: OfferWord, inPlaceOf ended: Int
    ) -> AnyTaskOperation? {
        // Read before the exchange: as numbers do not come again for long, that fails if the place was used again.
        let operation = offer.pointee.operation.load(ordering: .relaxed)!
        let taken = OfferWord(number: word.number, slot: ended, isTaken: true)
        let isMine = offer.pointee.word.compareExchange(
            expected: word.bits, desired: taken.bits, ordering: .releasing
        ).exchanged
        return isMine ? Unmanaged.fromOpaque(operation).takeUnretainedValue() : nil
    }
}

// MARK: - Offering

extension ReadyRing {
    /// What the scheduler notes of its run, under its lock.
    struct Notes {
        /// The level of what is offered; nil if no run is open.
        fileprivate(set) var level: PriorityLevel?
        /// The number of the first offer that was not seen taken.
        fileprivate var first: UInt32 = 1
        /// How many offers there are from that one on.
        fileprivate(set) var count = 0
        /// How many to offer: as many as may well be taken before the next event.
        fileprivate(set) var length = shortest

        /// Fewer are not worth it.
        static let shortest = 4
    }

    /// Opens a run, or offers more behind what is offered.
    func offer(
        _ entries: some Sequence<RankedList.Entry>, level: PriorityLevel, _ notes: inout Notes,
        operation: (_ slot: Int) -> AnyTaskOperation
    ) {
        if offers.load(ordering: .relaxed) == nil { makeOffers() }
        for entry in entries {
            let number = notes.first &+ UInt32(notes.count)
            let operation = Unmanaged.passUnretained(operation(entry.slot)).toOpaque()
            let word = OfferWord(number: number, slot: entry.slot, isTaken: false)
            offer(number).pointee.operation.store(operation, ordering: .relaxed)
            offer(number).pointee.word.store(word.bits, ordering: .releasing)
            notes.count += 1
        }
        notes.level = level
        let new = RingHeader(level: level, first: notes.first, halfCount: notes.count / 2)
        header.store(new.bits, ordering: .releasing)
    }

    /// Looks at what was taken, in order, and leaves the run open.
    func follow(_ notes: inout Notes, _ wasTaken: (_ ended: Int) -> Void) {
        look(&notes, wasTaken) { OfferWord(bits: $0.pointee.word.load(ordering: .acquiring)) }
        notes.length = min(2 * notes.length, Self.capacity)
    }

    /// Closes the run, and looks at what was taken, in order.
    func close(_ notes: inout Notes, _ wasTaken: (_ ended: Int) -> Void) {
        header.store(RingHeader.closed.bits, ordering: .relaxed)
        let count = notes.count
        look(&notes, wasTaken) { offer in
            let word = OfferWord(bits: offer.pointee.word.load(ordering: .acquiring))
            if word.isTaken { return word }
            // Not the number that whoever comes to this place expects.
            let closed = OfferWord(number: word.number &- 1, slot: 0, isTaken: false)
            return OfferWord(bits: offer.pointee.word.exchange(closed.bits, ordering: .acquiring))
        }
        notes.length = min(max(2 * (count - notes.count), Notes.shortest), Self.capacity)
        // What is left keeps its numbers: they are not used again.
        notes.first &+= UInt32(notes.count)
        notes.count = 0
        notes.level = nil
    }

    /// Goes through what was taken, up to the first offer that reads as left.
    @inline(__always)
    private func look(
        _ notes: inout Notes, _ wasTaken: (_ ended: Int) -> Void, read: (UnsafeMutablePointer<Offer>) -> OfferWord
    ) {
        while notes.count > 0 {
            let word = read(offer(notes.first))
            if !word.isTaken { return }
            notes.first &+= 1
            notes.count -= 1
            wasTaken(word.slot)
        }
    }

    private func makeOffers() {
        let made = UnsafeMutablePointer<Offer>.allocate(capacity: Self.capacity)
        for index in 0..<Self.capacity { (made + index).initialize(to: Offer()) }
        offers.store(made, ordering: .relaxed)
    }
}

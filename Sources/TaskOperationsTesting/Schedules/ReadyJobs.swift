internal import CSchedules

/// A job that can run now.
struct ReadyJob: Sendable {
    /// The job of the highest rank runs next, if the schedule is a random one; otherwise 0. The first member, because a
    /// function of C reads it.
    var rank: UInt64
    let job: UnownedJob
    /// The number of the task. A job that runs an actor has the number of the task that entered the actor, or a number
    /// of its own.
    let task: UInt64
    let isMain: Bool
    /// The actor that the task is about to enter; nil if it does not enter one.
    let entry: SchedulesSwitch?
    /// The number of jobs of the run that became ready earlier, or began to sleep earlier.
    let number: Int

    /// Whether the job is a new task that is about to enter its actor.
    var begins: Bool { if let entry { entry.resume == nil } else { false } }
}

/// The jobs that can run now, in the usual order.
///
/// Jobs of the main actor keep their order, so only the first of them can be chosen. Each call takes O(log *n*) time.
///
/// Without optimization, pointers and bits are several times faster than arrays.
// Sendable: no other value has the pointers.
struct ReadyJobs: ~Copyable, @unchecked Sendable {
    /// The number of jobs in a part of the places that can be chosen, their highest rank, and the first place that has it.
    private struct Part {
        var count = 0
        var rank: UInt64 = 0
        var place = 0
    }

    /// The jobs, with gaps. The number of places is a power of two, and at least 64.
    private var places: UnsafeMutablePointer<ReadyJob>
    private var size = 64
    /// The jobs that can be chosen, as bits of blocks of 64 places.
    private var blocks: UnsafeMutablePointer<UInt64>
    /// A binary tree. Part 1 is the whole, and part `n` consists of the parts `2n` and `2n + 1`. Each block is one of the
    /// last parts.
    private var parts: UnsafeMutablePointer<Part>
    /// The places from `start` to `end - 1` are in use.
    private var start = 16
    private var end = 16
    /// The places of the jobs of the main actor.
    private var mainPlaces: ArraySlice<Int> = []

    init() { (places, blocks, parts) = Self.allocate(size) }

    deinit { Self.deallocate(places, blocks, parts) }

    private static func allocate(
        _ size: Int
    ) -> (UnsafeMutablePointer<ReadyJob>, UnsafeMutablePointer<UInt64>, UnsafeMutablePointer<Part>) {
        let blocks = UnsafeMutablePointer<UInt64>.allocate(capacity: size / 64)
        blocks.initialize(repeating: 0, count: size / 64)
        let parts = UnsafeMutablePointer<Part>.allocate(capacity: size / 32)
        parts.initialize(repeating: Part(), count: size / 32)
        // Jobs are plain numbers and addresses. Gaps are never read.
        return (.allocate(capacity: size), blocks, parts)
    }

    private static func deallocate(
        _ places: UnsafeMutablePointer<ReadyJob>, _ blocks: UnsafeMutablePointer<UInt64>,
        _ parts: UnsafeMutablePointer<Part>
    ) {
        places.deallocate()
        blocks.deallocate()
        parts.deallocate()
    }

    /// The number of jobs that can be chosen.
    var count: Int { parts[1].count }

    /// Adds a job after the others, or before them. A job of the main actor is never added before another one.
    mutating func add(_ job: ReadyJob, isNext: Bool = false) {
        if isNext, !job.isMain || mainPlaces.isEmpty {
            if start == 0 { makeRoom() }
            start -= 1
            put(job, at: start)
        } else {
            if end == size { makeRoom() }
            put(job, at: end)
            end += 1
        }
    }

    /// Adds a job before all others, although jobs of the main actor may be among these.
    mutating func putBack(_ job: ReadyJob) {
        if start == 0 { makeRoom() }
        start -= 1
        (places + start).initialize(to: job)
        if job.isMain {
            if let first = mainPlaces.first { exclude(first) }
            mainPlaces.insert(start, at: mainPlaces.startIndex)
        }
        include(start, job.rank)
    }

    /// The jobs of the main actor, of which only the first one can be chosen.
    var mainJobs: [ReadyJob] { mainPlaces.map { places[$0] } }

    /// Calls a function with each job that can be chosen and precedes a place, or with all. Takes linear time.
    func forEach(before end: Int? = nil, _ body: (ReadyJob) -> Void) {
        for place in start..<(end ?? self.end) where holds(place) { body(places[place]) }
    }

    /// Whether the first job is one of the main actor. There must be a job.
    var isFirstMain: Bool { places[first].isMain }

    private mutating func put(_ job: ReadyJob, at place: Int) {
        (places + place).initialize(to: job)
        if job.isMain {
            mainPlaces.append(place)
            if mainPlaces.count > 1 { return }
        }
        include(place, job.rank)
    }

    /// Removes and returns a job that can be chosen.
    mutating func remove(at place: Int) -> ReadyJob {
        exclude(place)
        if places[place].isMain {
            mainPlaces.removeFirst()
            if let next = mainPlaces.first { include(next, places[next].rank) }
        }
        if place == start { start += 1 }
        if parts[1].count == 0 { (start, end) = (size / 4, size / 4) }
        return places[place]
    }

    /// The place of the first job. There must be a job. Equal calls in the same order lead to equal places.
    var first: Int {
        var part = 1
        while part < size / 64 {
            part *= 2
            if parts[part].count == 0 { part += 1 }
        }
        let block = part - size / 64
        return block * 64 + blocks[block].trailingZeroBitCount
    }

    /// The place of the first job of the highest rank. There must be a job.
    var highest: Int { parts[1].place }

    /// The highest rank of a job that can be chosen.
    var highestRank: UInt64 { parts[1].rank }

    /// Gives a job that can be chosen another rank.
    mutating func setRank(at place: Int, _ rank: (_ task: UInt64) -> UInt64) {
        exclude(place)
        places[place].rank = rank(places[place].task)
        include(place, places[place].rank)
    }

    /// Whether a job at a place can be chosen.
    func holds(_ place: Int) -> Bool { place < size && blocks[place / 64] >> (place % 64) & 1 == 1 }

    /// Lets a job be chosen.
    private func include(_ place: Int, _ rank: UInt64) {
        let block = place / 64
        blocks[block] |= 1 << UInt64(place % 64)
        let part = size / 64 + block
        parts[part].count += 1
        let former = parts[part]
        if former.count == 1 || former.rank < rank || former.rank == rank && place < former.place {
            (parts[part].rank, parts[part].place) = (rank, place)
        }
        if part > 1 { updateParts(above: part) }
    }

    /// Lets a job be chosen no longer.
    private func exclude(_ place: Int) {
        let block = place / 64
        blocks[block] &= ~(1 << UInt64(place % 64))
        let part = size / 64 + block
        parts[part].count -= 1
        if parts[part].place == place { findHighest(of: block, part) }
        if part > 1 { updateParts(above: part) }
    }

    private func findHighest(of block: Int, _ part: Int) {
        let first = places + block * 64
        // Without optimization, C is several times faster. Most of the time of a removal is spent here.
        let place = Int(schedulesFindHighest(first, MemoryLayout<ReadyJob>.stride, blocks[block]))
        (parts[part].rank, parts[part].place) = place < 0 ? (0, -1) : (first[place].rank, block * 64 + place)
    }

    private func updateParts(above part: Int) {
        var part = part / 2
        while part > 0 {
            let (one, other) = (parts[2 * part], parts[2 * part + 1])
            let isOther = one.rank < other.rank || one.count == 0
            parts[part] = isOther ? other : one
            parts[part].count = one.count + other.count
            part /= 2
        }
    }

    /// Distributes the jobs so that at least half of the places are free. A quarter of these precedes the jobs.
    private mutating func makeRoom() {
        let (oldPlaces, oldBlocks, oldParts, oldStart, oldEnd) = (places, blocks, parts, start, end)
        var oldMainPlaces = mainPlaces
        let count = count + mainPlaces.count
        size = 64
        while size < 2 * count { size *= 2 }
        (places, blocks, parts) = Self.allocate(size)
        mainPlaces = []
        (start, end) = (size / 8, size / 8)
        var place = oldStart
        while place < oldEnd {
            let isMain = oldMainPlaces.count > 0 && oldMainPlaces.first == place
            if isMain { oldMainPlaces.removeFirst() }
            if isMain || oldBlocks[place / 64] & 1 << UInt64(place % 64) != 0 { add(oldPlaces[place]) }
            place += 1
        }
        Self.deallocate(oldPlaces, oldBlocks, oldParts)
    }
}

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
    /// Whether the job continues a task that yields or sleeps.
    let isContinuation: Bool

    /// Whether the job is a new task that is about to enter its actor.
    var begins: Bool { if let entry { entry.resume == nil } else { false } }
}

/// The jobs that can run now, in the usual order.
///
/// Jobs of the main actor keep their order, so only the first of them can be chosen. A call looks at one block of 64
/// places, and at one number of each other block.
///
/// Without optimization, pointers and bits are several times faster than arrays.
// Sendable: no other value has the pointers.
struct ReadyJobs: ~Copyable, @unchecked Sendable {
    /// 64 places.
    private struct Block {
        /// The highest rank of the jobs that can be chosen; 0 if there is none. The first member, because a function of C
        /// reads it.
        var rank: UInt64 = 0
        /// The first place that has the highest rank; -1 if there is none.
        var place = -1
        /// The places of the jobs that can be chosen.
        var places: UInt64 = 0
    }

    /// The jobs, with gaps. The number of places is a multiple of 64.
    private var places: UnsafeMutablePointer<ReadyJob>
    private var blocks: UnsafeMutablePointer<Block>
    private var size = 64
    /// The places from `start` to `end - 1` are in use.
    private var start = 16
    private var end = 16
    /// The number of jobs that can be chosen.
    private(set) var count = 0
    /// The places of the jobs of the main actor.
    private var mainPlaces: ArraySlice<Int> = []
    /// Whether no job of the main actor can be chosen, because one has begun and waits.
    private(set) var holdsMain = false

    init() { (places, blocks) = Self.allocate(size) }

    deinit { Self.deallocate(places, blocks) }

    private static func allocate(_ size: Int) -> (UnsafeMutablePointer<ReadyJob>, UnsafeMutablePointer<Block>) {
        let blocks = UnsafeMutablePointer<Block>.allocate(capacity: size / 64)
        blocks.initialize(repeating: Block(), count: size / 64)
        // Jobs are plain numbers and addresses. Gaps are never read.
        return (.allocate(capacity: size), blocks)
    }

    private static func deallocate(_ places: UnsafeMutablePointer<ReadyJob>, _ blocks: UnsafeMutablePointer<Block>) {
        places.deallocate()
        blocks.deallocate()
    }

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
            if let first = mainPlaces.first, !holdsMain { exclude(first) }
            mainPlaces.insert(start, at: mainPlaces.startIndex)
            if holdsMain { return }
        }
        include(start, job.rank)
    }

    /// Keeps the jobs of the main actor from being chosen, or ends this.
    mutating func setHoldsMain(_ holds: Bool) {
        if holdsMain == holds { return }
        holdsMain = holds
        guard let first = mainPlaces.first else { return }
        if holds { exclude(first) } else { include(first, places[first].rank) }
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
            if mainPlaces.count > 1 || holdsMain { return }
        }
        include(place, job.rank)
    }

    /// Removes and returns a job that can be chosen.
    mutating func remove(at place: Int) -> ReadyJob {
        exclude(place)
        if places[place].isMain {
            mainPlaces.removeFirst()
            if let next = mainPlaces.first, !holdsMain { include(next, places[next].rank) }
        }
        if place == start { start += 1 }
        if count == 0, mainPlaces.isEmpty { (start, end) = (size / 4, size / 4) }
        return places[place]
    }

    /// The place of the first job. There must be a job. Equal calls in the same order lead to equal places.
    var first: Int {
        var block = start / 64
        while blocks[block].places == 0 { block += 1 }
        return block * 64 + blocks[block].places.trailingZeroBitCount
    }

    /// The place of the first job of the highest rank. There must be a job.
    var highest: Int { blocks[highestBlock].place }

    /// The highest rank of a job that can be chosen.
    var highestRank: UInt64 { blocks[highestBlock].rank }

    private var highestBlock: Int {
        var (highest, first) = (0, 0)
        // One block is the usual case.
        while first < size / 64, size > 64 {
            let count = min(size / 64 - first, 64)
            let all = UInt64.max >> UInt64(64 - count)
            let block = first + Int(schedulesFindHighest(blocks + first, MemoryLayout<Block>.stride, all))
            if blocks[block].rank > blocks[highest].rank || blocks[highest].place < 0 { highest = block }
            first += 64
        }
        return highest
    }

    /// Gives a job that can be chosen another rank.
    mutating func setRank(at place: Int, _ rank: (_ task: UInt64) -> UInt64) {
        exclude(place)
        places[place].rank = rank(places[place].task)
        include(place, places[place].rank)
    }

    /// Whether a job at a place can be chosen.
    func holds(_ place: Int) -> Bool { place < size && blocks[place / 64].places & 1 << UInt64(place % 64) != 0 }

    /// Lets a job be chosen.
    private mutating func include(_ place: Int, _ rank: UInt64) {
        count += 1
        let block = blocks + place / 64
        block.pointee.places |= 1 << UInt64(place % 64)
        let (highest, former) = (block.pointee.rank, block.pointee.place)
        if former < 0 || highest < rank || highest == rank && place < former {
            (block.pointee.rank, block.pointee.place) = (rank, place)
        }
    }

    /// Lets a job be chosen no longer.
    private mutating func exclude(_ place: Int) {
        count -= 1
        let block = blocks + place / 64
        block.pointee.places &= ~(1 << UInt64(place % 64))
        if block.pointee.place != place { return }
        let first = place - place % 64
        // Without optimization, C is several times faster. Most of the time of a removal is spent here.
        let found = Int(schedulesFindHighest(places + first, MemoryLayout<ReadyJob>.stride, block.pointee.places))
        (block.pointee.rank, block.pointee.place) = found < 0 ? (0, -1) : (places[first + found].rank, first + found)
    }

    /// Distributes the jobs so that at least half of the places are free. A quarter of these precedes the jobs.
    private mutating func makeRoom() {
        let (oldPlaces, oldBlocks, oldEnd) = (places, blocks, end)
        var place = start
        var oldMainPlaces = mainPlaces
        size = (2 * (count + mainPlaces.count) / 64 + 1) * 64
        (places, blocks) = Self.allocate(size)
        (mainPlaces, count) = ([], 0)
        (start, end) = (size / 8, size / 8)
        while place < oldEnd {
            let isMain = oldMainPlaces.count > 0 && oldMainPlaces.first == place
            if isMain { oldMainPlaces.removeFirst() }
            if isMain || oldBlocks[place / 64].places & 1 << UInt64(place % 64) != 0 { add(oldPlaces[place]) }
            place += 1
        }
        Self.deallocate(oldPlaces, oldBlocks)
    }
}
